/**
 * One file of a journal: whole lines in a file that is larger than they are. Room is taken ahead by writing empty lines, so
 * that what was promised to a call still fits when the disk is full.
 *
 * @module
 */
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';

/** How a journal reaches the disk. Tests have it fail. */
export interface JournalFiles {
  /** Makes the file, which must not be there. */
  create(path: string): number;
  /** Like `pwrite`: says how many bytes it took, which may be fewer. */
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

/** Taken ahead at once: one write for some tens of calls. */
const CHUNK_BYTES = 64 * 1024;
const EMPTY_LINES = Buffer.alloc(CHUNK_BYTES, '\n');

export class JournalFile {
  readonly #files: JournalFiles;
  readonly #path: string;
  readonly #fd: number;
  /** Where the next line begins. */
  #end = 0;
  /** What the file has on disk, with the empty lines. */
  #size = 0;
  /** Bytes behind `#end` of a line that was not written whole. */
  #torn = 0;

  constructor(path: string, files: JournalFiles) {
    this.#path = path;
    this.#files = files;
    this.#fd = files.create(path);
  }

  get bytes(): number {
    return this.#end;
  }

  /** Writes a line if it fits and so many bytes are left for others behind it; throws and leaves no part of it otherwise. */
  append(line: string, leave: number): void {
    const bytes = Buffer.from(`${line}\n`);
    this.#mend();
    this.#reserve(bytes.length + leave);
    for (let done = 0; done < bytes.length; this.#torn = done)
      done += this.#write(bytes.subarray(done), this.#end + done);
    this.#end += bytes.length;
    this.#torn = 0;
  }

  /** Makes sure that lines of so many bytes can be written. */
  reserve(bytes: number): void {
    this.#mend();
    this.#reserve(bytes);
  }

  close(): void {
    this.#files.close(this.#fd);
  }

  remove(): void {
    this.#files.close(this.#fd);
    this.#files.remove(this.#path);
  }

  /** Puts empty lines over the part of a line: what comes next would be read together with it. */
  #mend(): void {
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
      // There may be room for this line and no more.
      if (this.#size < needed) throw error;
    }
  }

  #write(bytes: Uint8Array, position: number): number {
    const taken = this.#files.write(this.#fd, bytes, position);
    if (taken > 0) return taken;
    throw Object.assign(new Error('ENOSPC: nothing was written'), { code: 'ENOSPC' });
  }
}
