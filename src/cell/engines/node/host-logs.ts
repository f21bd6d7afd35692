/**
 * Captures the output of skills that run in the host process, so that it does not mix with the host's own output. The
 * asynchronous context says which call an output belongs to, even after the call has ended.
 *
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { StringDecoder } from 'node:string_decoder';

/** Covers all overloads. */
type Write = (chunk: string | Uint8Array, ...rest: unknown[]) => boolean;
type Printer = { write: Write };

/** The log of one call, up to its limit. */
export class HostLog {
  readonly #limit: number;
  readonly #listener: ((chunk: Buffer) => void) | undefined;
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  totalBytes = 0;

  constructor(limit: number, listener?: (chunk: Buffer) => void) {
    this.#limit = limit;
    this.#listener = listener;
  }

  get text(): string {
    return this.#text;
  }

  add(chunk: string | Uint8Array, encoding?: BufferEncoding): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    const kept = bytes.subarray(0, Math.max(0, this.#limit - this.totalBytes));
    this.totalBytes += bytes.length;
    this.#text += this.#decoder.write(kept);
    this.#listener?.(kept);
  }
}

export class HostLogs {
  readonly #calls = new AsyncLocalStorage<HostLog>();
  #undo: (() => void) | undefined;

  /** Runs `work`. Everything that it prints, also asynchronously later, goes to `log`. */
  capture<T>(log: HostLog, work: () => T): T {
    this.#undo ??= this.#divert();
    return this.#calls.run(log, work);
  }

  close(): void {
    this.#undo?.();
    this.#undo = undefined;
  }

  #divert(): () => void {
    const streams: unknown[] = [process.stdout, process.stderr];
    const undo = streams.map((stream) => this.#divertOne(stream as Printer));
    return () => undo.forEach((one) => one());
  }

  #divertOne(stream: Printer): () => void {
    const { write: original } = stream;
    const isOwn = Object.hasOwn(stream, 'write');
    const ours = this.#writeInstead((...args) => original.apply(stream, args));
    stream.write = ours;
    return () => {
      // Other code has replaced it since, so leave that in place.
      if (stream.write !== ours) return;
      if (isOwn) stream.write = original;
      else delete (stream as Partial<Printer>).write;
    };
  }

  #writeInstead(original: Write): Write {
    const calls = this.#calls;
    return (chunk, ...rest) => {
      const log = calls.getStore();
      if (!log) return original(chunk, ...rest);
      const [encoding] = rest;
      log.add(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : undefined);
      const done = rest.find((arg) => typeof arg === 'function') as (() => void) | undefined;
      if (done) process.nextTick(done);
      return true;
    };
  }
}
