/**
 * Bytes on their way into a reader: from memory, from a file or from a response.
 *
 * @module
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

export type ByteStream = AsyncIterable<Buffer>;

const CHUNK = 64 * 1024;
const EMPTY: Buffer = Buffer.alloc(0);

/** Yields between chunks, so that a large archive in memory does not keep the event loop. */
export async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK) {
    yield bytes.subarray(at, at + CHUNK);
    await nextTurn();
  }
}

/** The bytes of a regular file. A named pipe cannot block it. */
export async function* fileChunks(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new TypeError('It is not a regular file');
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Stops with the error of `onOver` after `most` bytes. */
export async function* capped(chunks: ByteStream, most: number, onOver: () => Error): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > most) throw onOver();
    yield chunk;
  }
}

/** The first bytes (fewer if there are no more), and all bytes again. */
export async function peek(chunks: ByteStream, length: number): Promise<{ head: Buffer; all: ByteStream }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let have = 0;
  while (have < length) {
    const next = await iterator.next();
    if (next.done) break;
    first.push(next.value);
    have += next.value.length;
  }
  return { head: Buffer.concat(first).subarray(0, length), all: again(first, iterator) };
}

async function* again(first: readonly Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* first;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

export async function collect(chunks: ByteStream): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** Reads exact lengths from a stream. */
export class ChunkReader {
  readonly #iterator: AsyncIterator<Buffer>;
  #rest: Buffer = EMPTY;

  constructor(chunks: ByteStream) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** Exactly `length` bytes in their own memory, or fewer at the end. */
  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    await this.#take(length, (part) => parts.push(part));
    return Buffer.concat(parts);
  }

  /** Returns how many bytes it skipped: fewer than `length` at the end. */
  async skip(length: number): Promise<number> {
    let skipped = 0;
    await this.#take(length, (part) => (skipped += part.length));
    return skipped;
  }

  /** What is left, chunk by chunk. */
  async *rest(): AsyncGenerator<Buffer> {
    const first = this.#rest;
    this.#rest = EMPTY;
    if (first.length > 0) yield first;
    for (let part = await this.#next(); part.length > 0; part = await this.#next()) yield part;
  }

  /** Ends the stream, even if it is not read to its end. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  async #take(length: number, use: (part: Buffer) => void): Promise<void> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      if (this.#rest.length === 0) return;
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      use(part);
    }
  }

  /** Empty at the end. */
  async #next(): Promise<Buffer> {
    for (;;) {
      const next = await this.#iterator.next();
      if (next.done) return EMPTY;
      if (next.value.length > 0) return next.value;
    }
  }
}
