/**
 * Byte streams between a guest and a source or sink that may answer at once or later.
 *
 * @module
 */
import { GuestEnd, type HostResource } from '../contract.ts';
import { BrokerError } from './broker-client.ts';
import type { Call } from './call.ts';
import { trap } from './check.ts';
import { after, Waitable, waitForAny } from './wait.ts';

/** The most that is read or written in one step. */
export const CHUNK = 65_536;

const EMPTY = new Uint8Array(0);

export interface ByteSource {
  /** No bytes at all: the end. */
  read(length: number): Uint8Array | Promise<Uint8Array>;
  close?(): void;
}

export interface ByteSink {
  write(bytes: Uint8Array): void | Promise<void>;
  close?(): void;
}

/** The resource of `wasi:io/error`. Which vocabulary a code belongs to depends on where the stream led. */
export class IoError {
  readonly cause: BrokerError;

  constructor(cause: BrokerError) {
    this.cause = cause;
  }
}

export type StreamError = { tag: 'closed' } | { tag: 'last-operation-failed'; val: IoError };
export type StreamResult<T> = { ok: T } | { err: StreamError };

const CLOSED: { err: StreamError } = { err: { tag: 'closed' } };

/** What both directions share: a failure is told once, after that the stream is closed. */
abstract class Stream extends Waitable implements HostResource {
  protected readonly call: Call;
  protected closed = false;
  protected pending = false;
  #failure: unknown;
  #bytes = 0;
  #dropped = false;

  constructor(call: Call) {
    super();
    this.call = call;
  }

  /** Lets go of what is at the other end. Called once. */
  protected abstract release(): void;

  /** A write that is under way is not cut off: what it goes to is let go of afterwards. */
  drop(): void {
    this.closed = true;
    if (this.#dropped) return;
    this.#dropped = true;
    if (!this.pending) this.release();
  }

  /** What was under way is over. */
  protected settle(): void {
    this.pending = false;
    if (this.#dropped) this.release();
  }

  protected get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Undefined while the stream works. */
  protected trouble(): { err: StreamError } | undefined {
    if (this.#failure !== undefined) {
      const failure = this.#failure;
      if (!(failure instanceof BrokerError)) throw failure;
      this.#failure = undefined;
      this.closed = true;
      return { err: { tag: 'last-operation-failed', val: new IoError(failure) } };
    }
    return this.closed ? CLOSED : undefined;
  }

  protected fail(error: unknown): void {
    if (this.pending) this.settle();
    this.#failure = error;
    this.notify();
  }

  protected count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.call.limits.streamBytes) throw new GuestEnd('limit', 'stream');
  }
}

export class InputStream extends Stream {
  readonly #source: ByteSource;
  #buffer: Uint8Array = EMPTY;

  constructor(call: Call, source: ByteSource) {
    super(call);
    this.#source = source;
  }

  override ready(): boolean {
    return this.#buffer.length > 0 || this.closed || this.failed;
  }

  override arm(): void {
    this.#fetch(CHUNK);
  }

  /** What is there now, which may be nothing. */
  read(length: number): StreamResult<Uint8Array> {
    if (length > 0) this.#fetch(Math.min(length, CHUNK));
    if (this.#buffer.length === 0) return this.trouble() ?? { ok: EMPTY };
    const bytes = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(bytes.length);
    return { ok: bytes };
  }

  blockingRead(length: number): StreamResult<Uint8Array> | Promise<StreamResult<Uint8Array>> {
    if (length === 0) return this.read(0);
    this.#fetch(Math.min(length, CHUNK));
    return after(waitForAny([this]), () => this.read(length));
  }

  protected override release(): void {
    this.#source.close?.();
    this.#buffer = EMPTY;
  }

  #fetch(length: number): void {
    if (this.pending || this.ready()) return;
    const accept = (bytes: Uint8Array): void => {
      if (this.pending) this.settle();
      this.count(bytes.length);
      if (bytes.length === 0) this.drop();
      else this.#buffer = bytes;
      this.notify();
    };
    try {
      const answer = this.#source.read(length);
      if (answer instanceof Uint8Array) return accept(answer);
      this.pending = true;
      answer.then(accept).catch((error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }
}

export class OutputStream extends Stream {
  readonly #sink: ByteSink;
  #permit = 0;

  constructor(call: Call, sink: ByteSink) {
    super(call);
    this.#sink = sink;
  }

  override ready(): boolean {
    return !this.pending;
  }

  checkWrite(): StreamResult<number> {
    const trouble = this.trouble();
    if (trouble !== undefined) return trouble;
    this.#permit = this.pending ? 0 : CHUNK;
    return { ok: this.#permit };
  }

  /** Only what `checkWrite` has allowed; more is a broken contract. */
  write(bytes: Uint8Array): StreamResult<undefined> {
    if (bytes.length > this.#permit) trap('A stream was written to without permission for that many bytes');
    const trouble = this.trouble();
    if (trouble !== undefined) return trouble;
    this.#permit -= bytes.length;
    this.#send(bytes);
    return { ok: undefined };
  }

  /** Writes are begun at once, so a flush has only to report what went wrong. */
  flush(): StreamResult<undefined> {
    return this.trouble() ?? { ok: undefined };
  }

  blockingFlush(): StreamResult<undefined> | Promise<StreamResult<undefined>> {
    return after(waitForAny([this]), () => this.flush());
  }

  /** WASI allows 4096 bytes here; what is more but fits a chunk does no harm. */
  blockingWrite(bytes: Uint8Array): StreamResult<undefined> | Promise<StreamResult<undefined>> {
    if (bytes.length > CHUNK) trap('A blocking write is too long');
    return after(waitForAny([this]), () => {
      const trouble = this.trouble();
      if (trouble !== undefined) return trouble;
      this.#send(bytes);
      return this.blockingFlush();
    }) as StreamResult<undefined> | Promise<StreamResult<undefined>>;
  }

  protected override release(): void {
    this.#sink.close?.();
  }

  #send(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.count(bytes.length);
    // A write may overtake one that is under way only if the sink could: so it may not.
    if (this.pending) trap('A stream was written to while it was busy');
    try {
      const answer = this.#sink.write(bytes);
      if (answer === undefined) return;
      this.pending = true;
      answer.then(
        () => {
          this.settle();
          this.notify();
        },
        (error: unknown) => this.fail(error),
      );
    } catch (error) {
      if (error instanceof GuestEnd) throw error;
      this.fail(error);
    }
  }
}
