/**
 * What a skill prints is kept as text for people, up to a cap, and counted in full.
 * It is never parsed, so it can never forge a result.
 *
 * @module
 */
import type { Readable } from 'node:stream';

/** How much log text an outcome carries; what is printed beyond it only counts. */
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
      // A cell that was killed resets its sockets; that is no news.
      stream.on('error', () => undefined);
    }
  }

  push(chunk: Buffer): void {
    this.#keep(chunk);
    this.#total += chunk.length;
    this.#onBytes(this.#total);
  }

  /** Has everything that is kept heard as it comes, beginning with what there is already. */
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

  /** Waits until what was printed before the reply has been read: all of it is in the kernel's buffers by now. */
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
