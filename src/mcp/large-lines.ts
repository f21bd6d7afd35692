/**
 * Lines that a client sends on standard input. A worker thread reads large ones before the SDK sees them; the order of lines
 * is kept.
 *
 * @module
 */
import { Transform, type TransformCallback } from 'node:stream';
import { MAX_JSON_HERE } from '../inside.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';

const NEWLINE = 0x0a;

export interface LinesOptions {
  /** Resolves when the next message may be passed on. */
  ready: () => Promise<void>;
  /** Reads a large message and returns a small one. */
  read: (bytes: Uint8Array) => Promise<unknown>;
  /** A large message was refused. */
  onRefused: (error: unknown) => void;
}

export class LargeLines extends Transform {
  readonly #options: LinesOptions;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(options: LinesOptions) {
    super();
    this.#options = options;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#take(chunk).then(() => done(), done);
  }

  async #take(chunk: Buffer): Promise<void> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end + 1));
      start = end + 1;
      await this.#options.ready();
      await this.#pass();
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MAX_MESSAGE_BYTES)
      throw new Error(`The client sent a message larger than ${MAX_MESSAGE_BYTES} bytes`);
    this.#parts.push(part);
  }

  async #pass(): Promise<void> {
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (line.length <= MAX_JSON_HERE) {
      this.push(line);
      return;
    }
    try {
      this.push(`${JSON.stringify(await this.#options.read(line))}\n`);
    } catch (error) {
      this.#options.onRefused(error);
    }
  }
}
