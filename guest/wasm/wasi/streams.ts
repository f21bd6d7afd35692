/**
 * Byte streams between a guest and a source or sink that may answer immediately or later.
 *
 * @module
 */
import { GuestEnd, type HostResource } from '../contract.ts';
import { BrokerError } from './broker-client.ts';
import type { Call } from './call.ts';
import { trap } from './check.ts';
import { after, Waitable, waitForAny } from './wait.ts';

/** Maximum number of bytes read or written in one step. */
export const CHUNK = 65_536;

const EMPTY = new Uint8Array(0);

export interface ByteSource {
  /** No bytes mean the end. */
  read(length: number): Uint8Array | Promise<Uint8Array>;
  close?(): void;
}

export interface ByteSink {
  write(bytes: Uint8Array): void | Promise<void>;
  close?(): void;
}

/** The resource of `wasi:io/error`. The vocabulary of a code depends on what the stream is connected to. */
export class IoError {
  readonly cause: BrokerError;

  constructor(cause: BrokerError) {
    this.cause = cause;
  }
}

export type StreamError = { tag: 'closed' } | { tag: 'last-operation-failed'; val: IoError };
export type StreamResult<T> = { ok: T } | { err: StreamError };

const CLOSED: { err: StreamError } = { err: { tag: 'closed' } };

/** Shared by both directions: a failure is reported once, after that the stream is closed. */
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

  /** Releases the other end. Called once. */
  protected abstract release(): void;

  /** A running write is not interrupted: its sink is released afterwards. */
  drop(): void {
    this.closed = true;
    if (this.#dropped) return;
    this.#dropped = true;
    if (!this.pending) this.release();
  }

  /** Called when the pending operation has ended. */
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

  /** The bytes available now, possibly none. */
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

  /** Accepts only as much as `checkWrite` has allowed; more violates the contract. */
  write(bytes: Uint8Array): StreamResult<undefined> {
    if (bytes.length > this.#permit) trap('A stream was written to without permission for that many bytes');
    const trouble = this.trouble();
    if (trouble !== undefined) return trouble;
    this.#permit -= bytes.length;
    this.#send(bytes);
    return { ok: undefined };
  }

  /** Writes start immediately, so a flush only has to report failures. */
  flush(): StreamResult<undefined> {
    return this.trouble() ?? { ok: undefined };
  }

  blockingFlush(): StreamResult<undefined> | Promise<StreamResult<undefined>> {
    return after(waitForAny([this]), () => this.flush());
  }

  /** WASI allows 4096 bytes here; more is harmless if it fits in a chunk. */
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
    // Writes must not overtake each other, because the sink could not restore their order.
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
