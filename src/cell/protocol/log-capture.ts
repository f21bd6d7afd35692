/**
 * Captures the output of a skill, up to a cap, and counts all of it. The text is never parsed, so it cannot forge a result.
 *
 * @module
 */
import type { Readable } from 'node:stream';
import { OUTPUT_STREAM_NAMES, type OutputStream } from '../../vocabulary/streams.ts';
import type { OutputListener } from '../contract.ts';

/** Maximum log text in an outcome; further output is only counted. */
export const KEPT_BYTES: number = 64 * 1024;
/** All writers are gone, so the end of a stream arrives as soon as the host has time for it. */
const ENDED_MS = 30_000;

interface Piece {
  chunk: Buffer;
  /** Undefined if the engine does not tell the streams apart. */
  stream: OutputStream | undefined;
}

export class LogCapture {
  readonly #streams: readonly Readable[];
  readonly #onBytes: (total: number) => void;
  readonly #most: number;
  #kept: Piece[] = [];
  #keptBytes = 0;
  #total = 0;
  #listener: OutputListener | undefined;

  /** The streams are standard output and standard error, in this order. Keeps up to `most` bytes. */
  constructor(streams: readonly Readable[], onBytes: (total: number) => void, most: number = KEPT_BYTES) {
    this.#streams = streams;
    this.#onBytes = onBytes;
    this.#most = most;
    for (const [at, stream] of streams.entries()) {
      stream.on('data', (chunk: Buffer) => this.push(chunk, OUTPUT_STREAM_NAMES[at]));
      // Expected: a killed cell resets its sockets.
      stream.on('error', () => undefined);
    }
  }

  push(chunk: Buffer, stream?: OutputStream): void {
    this.#keep(chunk, stream);
    this.#total += chunk.length;
    this.#onBytes(this.#total);
  }

  /** Calls `listener` with everything that is kept, starting with what has already arrived. */
  listen(listener: OutputListener): void {
    for (const { chunk, stream } of this.#kept) listener(chunk, stream);
    this.#listener = listener;
  }

  get totalBytes(): number {
    return this.#total;
  }

  text(): string {
    const kept = Buffer.concat(this.#kept.map(({ chunk }) => chunk)).subarray(0, KEPT_BYTES);
    const dropped = this.#total - kept.length;
    const text = kept.toString('utf8');
    return dropped > 0 ? `${text}\n[${dropped} more bytes of output were not kept]` : text;
  }

  /** Everything that one stream printed, as far as it was kept. */
  bytesOf(stream: OutputStream): Buffer {
    return Buffer.concat(this.#kept.flatMap((piece) => (piece.stream === stream ? [piece.chunk] : [])));
  }

  /** Waits until everything printed before the reply has been read; all of it is in the kernel's buffers by now. */
  async settle(): Promise<void> {
    let before = -1;
    while (before !== this.#total) {
      before = this.#total;
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
  }

  /** Waits for the ends of the streams. Only for a cell whose processes are gone. */
  async ended(): Promise<void> {
    await Promise.all(this.#streams.map((stream) => endOf(stream, ENDED_MS)));
  }

  #keep(chunk: Buffer, stream: OutputStream | undefined): void {
    const room = this.#most - this.#keptBytes;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    this.#kept.push({ chunk: part, stream });
    this.#keptBytes += part.length;
    this.#listener?.(part, stream);
  }
}

/** Resolves when the stream has been read to its end, or after a while. */
export async function endOf(stream: Readable, waitMs: number): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    stream.once('end', resolve).once('close', resolve);
    setTimeout(resolve, waitMs).unref();
  });
}
