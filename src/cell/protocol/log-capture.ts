/**
 * Captures the output of a skill as text, up to a cap, and counts all of it. The text is never parsed, so it cannot forge
 * a result.
 *
 * @module
 */
import type { Readable } from 'node:stream';

/** Maximum log text in an outcome; further output is only counted. */
export const KEPT_BYTES: number = 64 * 1024;

export class LogCapture {
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #total = 0;
  readonly #onBytes: (total: number) => void;
  #listener: ((chunk: Buffer) => void) | undefined;

  constructor(streams: Readable[], onBytes: (total: number) => void) {
    this.#onBytes = onBytes;
    for (const stream of streams) {
      stream.on('data', (chunk: Buffer) => this.push(chunk));
      // Expected: a killed cell resets its sockets.
      stream.on('error', () => undefined);
    }
  }

  push(chunk: Buffer): void {
    this.#keep(chunk);
    this.#total += chunk.length;
    this.#onBytes(this.#total);
  }

  /** Calls `listener` with everything that is kept, starting with what has already arrived. */
  listen(listener: (chunk: Buffer) => void): void {
    for (const chunk of this.#kept) listener(chunk);
    this.#listener = listener;
  }

  get totalBytes(): number {
    return this.#total;
  }

  text(): string {
    const text = Buffer.concat(this.#kept).toString('utf8');
    const dropped = this.#total - this.#keptBytes;
    return dropped > 0 ? `${text}\n[${dropped} more bytes of output were not kept]` : text;
  }

  /** Waits until everything printed before the reply has been read; all of it is in the kernel's buffers by now. */
  async settle(): Promise<void> {
    let before = -1;
    while (before !== this.#total) {
      before = this.#total;
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
  }

  #keep(chunk: Buffer): void {
    const room = KEPT_BYTES - this.#keptBytes;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    this.#kept.push(part);
    this.#keptBytes += part.length;
    this.#listener?.(part);
  }
}
