/**
 * One file of a journal: whole lines, followed by empty lines that reserve space, so that the room promised to a call is
 * still there when the disk is full.
 *
 * @module
 */
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';

/** Disk access of a journal. Tests make it fail. */
export interface JournalFiles {
  /** Creates the file, which must not exist. */
  create(path: string): number;
  /** Like `pwrite`: returns how many bytes were written, which may be fewer. */
  write(fd: number, bytes: Uint8Array, position: number): number;
  close(fd: number): void;
  remove(path: string): void;
}

export const DISK: JournalFiles = {
  create: (path) => openSync(path, 'wx', 0o600),
  write: (fd, bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
  close: closeSync,
  remove: unlinkSync,
};

/** Reserved in one write: enough for a few dozen calls. */
const CHUNK_BYTES = 64 * 1024;
const EMPTY_LINES = Buffer.alloc(CHUNK_BYTES, '\n');

export class JournalFile {
  readonly #files: JournalFiles;
  readonly #path: string;
  readonly #fd: number;
  /** Offset of the next line. */
  #end = 0;
  /** Size on disk, including the empty lines. */
  #size = 0;
  /** Bytes after `#end` that belong to a partly written line. */
  #torn = 0;

  constructor(path: string, files: JournalFiles) {
    this.#path = path;
    this.#files = files;
    this.#fd = files.create(path);
  }

  get bytes(): number {
    return this.#end;
  }

  /** Writes a line if it fits and leaves `leave` bytes for others; otherwise throws and leaves no part of it. */
  append(line: string, leave: number): void {
    const bytes = Buffer.from(`${line}\n`);
    this.#eraseTorn();
    this.#reserve(bytes.length + leave);
    for (let done = 0; done < bytes.length; this.#torn = done)
      done += this.#write(bytes.subarray(done), this.#end + done);
    this.#end += bytes.length;
    this.#torn = 0;
  }

  /** Throws unless this many bytes can be written. Reserved room is not enough: the disk may have failed since. */
  assertRoom(bytes: number): void {
    this.#eraseTorn();
    this.#reserve(bytes);
    this.#write(EMPTY_LINES.subarray(0, 1), this.#end);
  }

  close(): void {
    this.#files.close(this.#fd);
  }

  remove(): void {
    this.#files.close(this.#fd);
    this.#files.remove(this.#path);
  }

  /** Overwrites a partial line with empty lines, because the next line would be read as part of it. */
  #eraseTorn(): void {
    for (let done = 0; done < this.#torn;)
      done += this.#write(EMPTY_LINES.subarray(0, this.#torn - done), this.#end + done);
    this.#torn = 0;
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#size) return;
    const wanted = Math.ceil(needed / CHUNK_BYTES) * CHUNK_BYTES;
    try {
      while (this.#size < wanted)
        this.#size += this.#write(EMPTY_LINES.subarray(0, wanted - this.#size), this.#size);
    } catch (error) {
      // There may be room for exactly this line.
      if (this.#size < needed) throw error;
    }
  }

  #write(bytes: Uint8Array, position: number): number {
    const taken = this.#files.write(this.#fd, bytes, position);
    if (taken > 0) return taken;
    throw Object.assign(new Error('ENOSPC: nothing was written'), { code: 'ENOSPC' });
  }
}
