/**
 * One call in progress as listeners see it: turns the runtime's steps into events.
 *
 * @module
 */
import { StringDecoder } from 'node:string_decoder';
import type { LimitName } from '../vocabulary/limits.ts';
import { OUTPUT_STREAM_NAMES, type OutputStream } from '../vocabulary/streams.ts';
import type { SkillError } from '../errors.ts';
import type { FaultOwner } from '../fault-owner.ts';
import { resultText } from '../json-text.ts';
import type { Outcome, SkillIdentity } from '../outcome.ts';
import type { CallEvent, CallEventName, CallListener, RunningCall } from './events.ts';
import type { Lineage } from './lineage.ts';
import type { Place } from '../vocabulary/place.ts';
import { notify } from './notify.ts';

/** Receives output as it is printed, unchanged. */
export type OnOutput = (chunk: Uint8Array, stream: OutputStream) => void;

export interface CallFacts {
  id: string;
  ref: string;
  caller: string;
  /** Receives every event of this call. */
  onEvent: CallListener | undefined;
  /** Receives the output of this call as bytes. */
  onOutput?: OnOutput | undefined;
  /** Aborted when the caller cancels the call. */
  signal: AbortSignal | undefined;
  /** Only for a call that another call made. */
  lineage?: Lineage | undefined;
}

/** The listeners of all calls. */
export interface EventSink {
  hasListener(name: CallEventName): boolean;
  emit(event: CallEvent): void;
}

export class LiveCall implements RunningCall, FaultOwner {
  readonly kind = 'call';
  readonly id: string;
  readonly ref: string;
  readonly caller: string;
  readonly lineage: Lineage | undefined;
  readonly startedAt: Date = new Date();
  execution: Place | undefined;
  /** The output of a command is in its result. */
  isCommand = false;
  /** Cause of the failure, for the calling program only; not in outcomes or receipts. */
  cause: unknown;
  /** Rejects on an internal error; never resolves. */
  readonly failed: Promise<never>;
  readonly #onEvent: CallListener | undefined;
  readonly #onOutput: OnOutput | undefined;
  readonly #listeners: EventSink;
  readonly #leave: (call: LiveCall) => void;
  readonly #controller = new AbortController();
  readonly #callerSignal: AbortSignal | undefined;
  readonly #cancel = (): void => this.#controller.abort(this.#callerSignal?.reason);
  #reject!: (error: SkillError) => void;
  #decoders: Readonly<Record<OutputStream, StringDecoder>> | undefined;
  #hasLogged = false;
  #isOver = false;

  constructor(facts: CallFacts, listeners: EventSink, leave: (call: LiveCall) => void) {
    this.id = facts.id;
    this.ref = facts.ref;
    this.caller = facts.caller;
    this.lineage = facts.lineage;
    this.#onEvent = facts.onEvent;
    this.#onOutput = facts.onOutput;
    this.#listeners = listeners;
    this.#leave = leave;
    this.#callerSignal = facts.signal;
    this.failed = new Promise((_, reject) => (this.#reject = reject));
    // Not every stage awaits it.
    this.failed.catch(() => undefined);
    this.#callerSignal?.addEventListener('abort', this.#cancel, { once: true });
    if (this.#callerSignal?.aborted) this.#cancel();
  }

  /** Aborted when the caller cancels the call and on an internal error; both end the cell. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  fail(error: SkillError): void {
    if (this.#isOver) return;
    this.#reject(error);
    this.#controller.abort(error);
  }

  /** Runs the call until it ends or fails. After a fault, the work may never settle, so it is not awaited. */
  untilFault<T>(work: () => Promise<T>): Promise<T> {
    return Promise.race([work(), this.failed]);
  }

  accepted(): void {
    if (this.#hasListener('accepted')) this.#emit({ type: 'accepted', call: this });
  }

  started(skill: () => SkillIdentity, execution: Place): void {
    this.execution = execution;
    if (this.#hasListener('started')) this.#emit({ type: 'started', call: this, skill: skill(), execution });
  }

  /** Receives output as it arrives; undefined if there is no listener, or if secrets must be removed first. */
  logListener(hasSecrets: boolean): ((chunk: Buffer, stream?: OutputStream) => void) | undefined {
    if (hasSecrets || !(this.#onOutput || this.#hasListener('log'))) return undefined;
    // A character may be split over two chunks.
    const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
    this.#decoders = decoders;
    return (chunk, stream) => {
      this.#onOutput?.(chunk, stream ?? 'stdout');
      this.#log(decoders[stream ?? 'stdout'].write(chunk), stream);
    };
  }

  done(outcome: Outcome): void {
    if (this.#hasListener('log')) this.#logRest(outcome);
    if (this.#hasListener('denied'))
      for (const denial of outcome.capabilities.denied) this.#emit({ type: 'denied', call: this, denial });
    if (!outcome.ok && outcome.error.code === 'resource_exceeded' && this.#hasListener('limit')) {
      const { error } = outcome;
      this.#emit({ type: 'limit', call: this, limit: error.detail['limit'] as LimitName, error });
    }
    if (this.#hasListener('done')) this.#emit({ type: 'done', call: this, outcome });
    this.#isOver = true;
  }

  /** Ends all events and removes the call from the list. */
  leave(): void {
    this.#isOver = true;
    this.#callerSignal?.removeEventListener('abort', this.#cancel);
    this.#leave(this);
  }

  /** Ends characters that were cut off, or emits everything at once if nothing could be emitted before. */
  #logRest(outcome: Outcome): void {
    for (const stream of OUTPUT_STREAM_NAMES) this.#log(this.#decoders?.[stream].end() ?? '', stream);
    if (this.#hasLogged) return;
    this.#log(outcome.logs);
    // Reading a large result would parse it here.
    if (!this.isCommand || !outcome.ok || resultText(outcome)) return;
    const printed = outcome.result as Record<OutputStream, string>;
    for (const stream of OUTPUT_STREAM_NAMES) this.#log(printed[stream], stream);
  }

  #log(text: string, stream?: OutputStream): void {
    // A skill that ran in the host may leave code behind that keeps printing.
    if (text === '' || this.#isOver) return;
    this.#hasLogged = true;
    this.#emit({ type: 'log', call: this, text, ...(stream ? { stream } : {}) });
  }

  #hasListener(name: CallEventName): boolean {
    return this.#onEvent !== undefined || this.#listeners.hasListener(name);
  }

  #emit(event: CallEvent): void {
    // After an internal error, the work of the call may continue for a moment.
    if (this.#isOver) return;
    if (this.#onEvent) notify(this.#onEvent, event);
    this.#listeners.emit(event);
  }
}
