/**
 * Reads a tar file entry by entry, within limits. Nothing is extracted: an entry has the offset of its bytes.
 *
 * @module
 */
import { open, type FileHandle } from 'node:fs/promises';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import { imageCorrupt, imageRefused } from './problems.ts';
import { BLOCK, decodeHeader, type TarHeader } from './tar-header.ts';

export interface TarEntry extends TarHeader {
  /** Offset of its content in the file. */
  offset: number;
}

/** Fields from extended headers, which apply to the entry after them. */
type Extended = Partial<Pick<TarHeader, 'name' | 'linkName' | 'size' | 'uid' | 'gid'>>;

const MAX_EXTENDED_BYTES = 64 * 1024;

/** The entries of a tar file in order; `from` and `end` select a part of the file. */
export async function* readTar(
  file: string,
  limits: ImageLimits = IMAGE_LIMITS,
  part: { from?: number; end?: number } = {},
): AsyncGenerator<TarEntry> {
  const handle = await open(file, 'r');
  try {
    const end = part.end ?? (await handle.stat()).size;
    yield* new TarWalk(handle, end, limits).entries(part.from ?? 0);
  } finally {
    await handle.close();
  }
}

class TarWalk {
  readonly #handle: FileHandle;
  readonly #end: number;
  readonly #limits: ImageLimits;
  #global: Extended = {};
  #next: Extended = {};

  constructor(handle: FileHandle, end: number, limits: ImageLimits) {
    this.#handle = handle;
    this.#end = end;
    this.#limits = limits;
  }

  async *entries(from: number): AsyncGenerator<TarEntry> {
    let headers = 0;
    for (let at = from; at + BLOCK <= this.#end;) {
      const block = await this.#read(at, BLOCK);
      // Two empty blocks mark the end; everything after the first is padding.
      if (block.every((byte) => byte === 0)) return;
      const header = decodeHeader(block);
      if (!header) throw imageCorrupt(`the archive has no valid header at byte ${at}`);
      headers += 1;
      if (headers > 3 * this.#limits.entries) throw tooMany(this.#limits);
      const entry = await this.#take(header, at + BLOCK);
      const size = entry?.size ?? header.size;
      if (at + BLOCK + size > this.#end) throw imageCorrupt(`the archive ends within an entry at byte ${at}`);
      if (entry) yield entry;
      at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    }
  }

  /** The entry, or undefined for a header that only describes the next one. */
  async #take(header: TarHeader, offset: number): Promise<TarEntry | undefined> {
    if (!'xgLK'.includes(header.type)) {
      const entry = { ...header, ...this.#global, ...this.#next, offset };
      this.#next = {};
      return this.#checked(entry);
    }
    if (header.size > MAX_EXTENDED_BYTES) throw imageRefused('it has an extended header that is too long');
    const bytes = (await this.#read(offset, header.size)).toString('latin1');
    if (header.type === 'L') this.#next.name = upToZero(bytes);
    else if (header.type === 'K') this.#next.linkName = upToZero(bytes);
    else if (header.type === 'x') this.#next = { ...this.#next, ...decodePax(bytes) };
    else this.#global = { ...this.#global, ...decodePax(bytes) };
    return undefined;
  }

  #checked(entry: TarEntry): TarEntry {
    const { pathBytes } = this.#limits;
    if (entry.name.length > pathBytes || entry.linkName.length > pathBytes)
      throw imageRefused(`it has a path of more than ${pathBytes} bytes`);
    // A link or folder has no content, even if its header says so.
    return '07'.includes(entry.type) ? entry : { ...entry, size: 0 };
  }

  async #read(at: number, length: number): Promise<Buffer> {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await this.#handle.read(buffer, 0, length, at);
    if (bytesRead < length) throw imageCorrupt(`the archive ends early at byte ${at}`);
    return buffer;
  }
}

/** Parses records of the form `LENGTH key=value\n`; the length includes itself. */
export function decodePax(text: string): Extended {
  const found: Extended = {};
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(' ', at);
    const length = Number(text.slice(at, space));
    const record = text.slice(space + 1, at + length - 1);
    const equals = record.indexOf('=');
    const isValid = space > at && Number.isInteger(length) && at + length <= text.length && equals > 0;
    if (!isValid || text[at + length - 1] !== '\n') throw imageCorrupt('an extended header is malformed');
    takePax(found, record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return found;
}

function takePax(found: Extended, key: string, value: string): void {
  if (key.startsWith('GNU.sparse.')) throw imageRefused('it has sparse files, which are not supported');
  if (key === 'path') found.name = value;
  if (key === 'linkpath') found.linkName = value;
  if (key !== 'size' && key !== 'uid' && key !== 'gid') return;
  const number = Number(value);
  if (!/^\d{1,15}$/.test(value)) throw imageCorrupt(`an extended header has no valid number for "${key}"`);
  found[key] = number;
}

function upToZero(text: string): string {
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

export function tooMany(limits: ImageLimits): Error {
  return imageRefused(`it has more than ${limits.entries} files`, { limit: limits.entries });
}
