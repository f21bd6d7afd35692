/**
 * The state of one call, and the slot through which the shared function tables reach it.
 *
 * @module
 */
import { GuestEnd } from '../contract.ts';
import { type BrokerAnswer, type BrokerClient, BrokerError, type Preopen } from './broker-client.ts';
import { ArmedTimers } from './armed-timers.ts';
import { trap } from './check.ts';

/** The resources of the host that one call may use. Exceeding one throws `GuestEnd('limit', name)`. */
export interface Limits {
  /** Bytes of stdout, stderr and log messages together: `output`. */
  output: number;
  /** Bytes through one stream: `stream`. */
  streamBytes: number;
  /** Requests to the broker: `host_calls`. */
  hostCalls: number;
  /** Bytes of one request for random numbers: `random`. */
  randomBytes: number;
  /** Bytes of one HTTP request body: `http_body`. */
  requestBody: number;
  /** Bytes of one response body collected for `skillcell:skill/host.fetch`; a larger one is an error for the guest. */
  responseBody: number;
  /** Bytes of names and values in one set of header fields: `http_headers`. */
  headerBytes: number;
  /** Concurrently open files and directories: `files`. */
  openFiles: number;
}

export const DEFAULT_LIMITS: Limits = {
  output: 1 << 20,
  streamBytes: 1 << 30,
  hostCalls: 1_000_000,
  randomBytes: 1 << 20,
  requestBody: 8 << 20,
  responseBody: 16 << 20,
  headerBytes: 64 << 10,
  openFiles: 256,
};

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface HostOptions {
  broker: BrokerClient;
  env?: Readonly<Record<string, string>>;
  args?: readonly string[];
  preopens?: readonly Preopen[];
  stdin?: Uint8Array;
  limits?: Partial<Limits>;
  onLog?: (level: LogLevel, message: string) => void;
  /** Receives every write to stdout and stderr, and owns the bytes. */
  onOutput?: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void;
  /** A refusal decided inside the cell, which the broker never saw. */
  onDenied?: (capability: 'filesystem', asked: string, declared: string) => void;
  /** Monotonic milliseconds. */
  clock?: () => number;
  /** Milliseconds since 1970. */
  now?: () => number;
  random?: (bytes: Uint8Array) => void;
}

/** Step of the monotonic clock: too coarse to time caches, fine enough to measure work. */
export const CLOCK_STEP_NS = 100_000n;
const STEPS_PER_MS = 10;
/** The clock does not start at zero, because Go takes zero for a broken clock. */
const FIRST_STEP = 10_000n;
/** The maximum that `crypto.getRandomValues` fills in one call. */
const RANDOM_CHUNK = 65_536;

const EMPTY = new Uint8Array(0);

export interface Slot {
  current: Call | undefined;
}

/** The call that the running guest belongs to. */
export function currentCall(slot: Slot): Call {
  return slot.current ?? trap('A host function was used outside a call');
}

export class Call {
  readonly options: HostOptions;
  readonly limits: Limits;
  readonly preopens: readonly Preopen[];
  stdin: Uint8Array;
  /** Streams of preview2 and the descriptor of preview1 read the same input. */
  stdinPosition = 0;
  /** Why the preview1 guest ended. It may have caught the exception; nothing more is done for it. */
  guestEnd: GuestEnd | undefined;
  /** Released when the call ends, whatever handles the guest still holds. */
  readonly held: Set<{ release(): void }> = new Set();
  readonly armed: ArmedTimers = new ArmedTimers();
  #started: number;
  #lastSteps = 0;
  #outputLeft: number;
  #requestsLeft: number;
  #finished = false;

  constructor(options: HostOptions) {
    this.options = options;
    this.limits = options.limits === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, ...options.limits };
    this.preopens = options.preopens ?? [];
    this.stdin = options.stdin ?? EMPTY;
    this.#started = this.#clock();
    this.#outputLeft = this.limits.output;
    this.#requestsLeft = this.limits.hostCalls;
  }

  /** Asks the broker. Rejects with BrokerError, or with GuestEnd if the guest cannot continue. */
  async request(op: string, args: Record<string, unknown>, bytes?: Uint8Array): Promise<BrokerAnswer> {
    this.#requestsLeft -= 1;
    if (this.#requestsLeft < 0) throw new GuestEnd('limit', 'host_calls');
    try {
      return await this.options.broker.request(op, args, bytes);
    } catch (error) {
      if (error instanceof BrokerError || error instanceof GuestEnd) throw error;
      throw new GuestEnd('trap', `The broker failed on "${op}": ${String(error)}`);
    }
  }

  /** For requests that the guest does not wait for; failures are ignored. */
  notify(op: string, args: Record<string, unknown>): void {
    this.options.broker.request(op, args).catch(() => undefined);
  }

  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    this.#spendOutput(bytes.length);
    if (bytes.length > 0) this.options.onOutput?.(stream, bytes);
  }

  log(level: LogLevel, message: string): void {
    this.#spendOutput(Buffer.byteLength(message));
    this.options.onLog?.(level, message);
  }

  /** Up to `length` bytes of the input; none at its end. */
  readStdin(length: number): Uint8Array {
    const bytes = this.stdin.subarray(this.stdinPosition, this.stdinPosition + length);
    this.stdinPosition += bytes.length;
    return bytes;
  }

  /**
   * Starts the call: an instance that was created ahead must not learn how long it was idle. Everything it did before then
   * is in the past of its clock.
   */
  begin(): void {
    this.#started = this.#clock() - this.#lastSteps / STEPS_PER_MS;
  }

  /** Nanoseconds since the call began, in coarse steps. */
  monotonic(): bigint {
    const steps = Math.floor((this.#clock() - this.#started) * STEPS_PER_MS);
    this.#lastSteps = Math.max(this.#lastSteps, steps);
    return (BigInt(this.#lastSteps) + FIRST_STEP) * CLOCK_STEP_NS;
  }

  wallMilliseconds(): number {
    return Math.max(0, Math.floor((this.options.now ?? Date.now)()));
  }

  random(length: number): Uint8Array {
    if (length > this.limits.randomBytes) throw new GuestEnd('limit', 'random');
    const bytes = new Uint8Array(length);
    const fill = this.options.random ?? ((part: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(part));
    for (let at = 0; at < length; at += RANDOM_CHUNK) fill(bytes.subarray(at, at + RANDOM_CHUNK));
    return bytes;
  }

  hold(thing: { release(): void }): void {
    if (!this.#finished && this.held.size < this.limits.openFiles) {
      this.held.add(thing);
      return;
    }
    thing.release();
    throw this.#finished ? new GuestEnd('trap', 'The call has ended') : new GuestEnd('limit', 'files');
  }

  finish(): void {
    this.#finished = true;
    for (const thing of this.held) thing.release();
    this.held.clear();
    this.armed.disarmAll();
    this.stdin = EMPTY;
  }

  #clock(): number {
    return (this.options.clock ?? performance.now.bind(performance))();
  }

  #spendOutput(length: number): void {
    this.#outputLeft -= length;
    if (this.#outputLeft < 0) throw new GuestEnd('limit', 'output');
  }
}
