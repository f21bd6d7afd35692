/**
 * One running call, seen from outside: what the runtime notes about it becomes events for those who listen.
 *
 * @module
 */
import { StringDecoder } from 'node:string_decoder';
import type { LimitName, SkillError } from '../errors.ts';
import type { FaultOwner } from '../fault-owner.ts';
import type { Outcome, SkillIdentity } from '../outcome.ts';
import type { CallEvent, CallEventName, CallListener, Place, RunningCall } from './events.ts';
import { hear } from './hear.ts';

export interface CallFacts {
  id: string;
  ref: string;
  caller: string;
  /** Hears every event of this call alone. */
  onEvent: CallListener | undefined;
  /** Aborted when the caller gives it up. */
  signal: AbortSignal | undefined;
}

/** Those who listen to all calls. */
export interface Tell {
  hears(name: CallEventName): boolean;
  tell(event: CallEvent): void;
}

export class LiveCall implements RunningCall, FaultOwner {
  readonly kind = 'call';
  readonly id: string;
  readonly ref: string;
  readonly caller: string;
  readonly startedAt: Date = new Date();
  execution: Place | undefined;
  /** Rejects when the call fails by a fault of ours; settles in no other way. */
  readonly failed: Promise<never>;
  readonly #own: CallListener | undefined;
  readonly #all: Tell;
  readonly #leave: (call: LiveCall) => void;
  readonly #controller = new AbortController();
  readonly #callers: AbortSignal | undefined;
  readonly #giveUp = (): void => this.#controller.abort(this.#callers?.reason);
  #reject!: (error: SkillError) => void;
  #hasLogged = false;
  #isOver = false;

  constructor(facts: CallFacts, all: Tell, leave: (call: LiveCall) => void) {
    this.id = facts.id;
    this.ref = facts.ref;
    this.caller = facts.caller;
    this.#own = facts.onEvent;
    this.#all = all;
    this.#leave = leave;
    this.#callers = facts.signal;
    this.failed = new Promise((_, reject) => (this.#reject = reject));
    // Not every stage of a call waits for it.
    this.failed.catch(() => undefined);
    this.#callers?.addEventListener('abort', this.#giveUp, { once: true });
    if (this.#callers?.aborted) this.#giveUp();
  }

  /** Aborted when the caller gives the call up, and when it fails by a fault of ours: both end its cell. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  fail(error: SkillError): void {
    if (this.#isOver) return;
    this.#reject(error);
    this.#controller.abort(error);
  }

  /** Does the work of the call. What was to wake it may be what failed, so nobody waits for it after a fault. */
  untilFault<T>(work: () => Promise<T>): Promise<T> {
    return Promise.race([work(), this.failed]);
  }

  accepted(): void {
    if (this.#isHeard('accepted')) this.#tell({ type: 'accepted', call: this });
  }

  started(skill: () => SkillIdentity, execution: Place): void {
    this.execution = execution;
    if (this.#isHeard('started')) this.#tell({ type: 'started', call: this, skill: skill(), execution });
  }

  /** Takes what the skill prints; undefined where nobody wants to hear it at once, or must not. */
  logListener(hasSecrets: boolean): ((chunk: Buffer) => void) | undefined {
    if (hasSecrets || !this.#isHeard('log')) return undefined;
    // A letter may come in two pieces.
    const decoder = new StringDecoder('utf8');
    return (chunk) => this.#log(decoder.write(chunk));
  }

  done(outcome: Outcome): void {
    if (this.#isHeard('log') && !this.#hasLogged) this.#log(outcome.logs);
    if (this.#isHeard('denied'))
      for (const denial of outcome.capabilities.denied) this.#tell({ type: 'denied', call: this, denial });
    if (!outcome.ok && outcome.error.code === 'resource_exceeded' && this.#isHeard('limit')) {
      const { error } = outcome;
      this.#tell({ type: 'limit', call: this, limit: error.detail['limit'] as LimitName, error });
    }
    if (this.#isHeard('done')) this.#tell({ type: 'done', call: this, outcome });
    this.#isOver = true;
  }

  /** Nothing is told any more, and it is not listed any more. */
  leave(): void {
    this.#isOver = true;
    this.#callers?.removeEventListener('abort', this.#giveUp);
    this.#leave(this);
  }

  #log(text: string): void {
    // What a skill leaves behind in the host may go on printing.
    if (text === '' || this.#isOver) return;
    this.#hasLogged = true;
    this.#tell({ type: 'log', call: this, text });
  }

  #isHeard(name: CallEventName): boolean {
    return this.#own !== undefined || this.#all.hears(name);
  }

  #tell(event: CallEvent): void {
    // Work of a call that failed by a fault may go on for a moment.
    if (this.#isOver) return;
    if (this.#own) hear(this.#own, event);
    this.#all.tell(event);
  }
}
