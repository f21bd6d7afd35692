/**
 * What a skill prints that runs in the host: kept as its log, and kept away from the output of the host. Whatever belongs
 * to a call is found by the asynchronous context it runs in, also after the call is over.
 *
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { StringDecoder } from 'node:string_decoder';

type Write = typeof process.stdout.write;

/** The log of one call, as far as its limit goes. */
export class HostLog {
  readonly #limit: number;
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  totalBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    return this.#text;
  }

  add(chunk: string | Uint8Array, encoding?: BufferEncoding): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    const kept = bytes.subarray(0, Math.max(0, this.#limit - this.totalBytes));
    this.totalBytes += bytes.length;
    this.#text += this.#decoder.write(kept);
  }
}

export class HostLogs {
  readonly #calls = new AsyncLocalStorage<HostLog>();
  #undo: (() => void) | undefined;

  /** Runs `work`; what it prints, and what it leaves behind prints, goes into `log`. */
  capture<T>(log: HostLog, work: () => T): T {
    this.#undo ??= this.#divert();
    return this.#calls.run(log, work);
  }

  close(): void {
    this.#undo?.();
    this.#undo = undefined;
  }

  #divert(): () => void {
    const undo = [process.stdout, process.stderr].map((stream) => {
      const original = stream.write.bind(stream) as Write;
      const own = this.#writeInstead(original);
      const had = Object.hasOwn(stream, 'write') ? stream.write : undefined;
      stream.write = own;
      return () => {
        // Somebody else's since then: not ours to take away.
        if (stream.write !== own) return;
        if (had) stream.write = had;
        else delete (stream as { write?: Write }).write;
      };
    });
    return () => undo.forEach((one) => one());
  }

  #writeInstead(original: Write): Write {
    const calls = this.#calls;
    const write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const log = calls.getStore();
      if (!log) return (original as (...args: unknown[]) => boolean)(chunk, ...rest);
      const [encoding] = rest;
      log.add(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : undefined);
      const done = rest.find((arg) => typeof arg === 'function') as (() => void) | undefined;
      if (done) process.nextTick(done);
      return true;
    };
    return write as Write;
  }
}
