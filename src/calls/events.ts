/**
 * What is told of calls while they are made. Plain data: who listens can change nothing about a call.
 *
 * @module
 */
import type { ErrorBody, LimitName } from '../errors.ts';
import type { CapabilityEvent, Execution, Outcome, SkillIdentity } from '../outcome.ts';

/** Where a call runs. */
export type Place = Pick<Execution, 'mode' | 'wall' | 'engine'>;

/** A call that has been made and has not ended. */
export interface RunningCall {
  /** The `call_id` of its outcome and receipt. */
  readonly id: string;
  /** The skill as the caller named it: an id or a folder. */
  readonly ref: string;
  /** Who calls, e.g. `cli`. */
  readonly caller: string;
  readonly startedAt: Date;
  /** Undefined while the call waits for its turn, and until everything is checked and a cell is chosen. */
  readonly execution: Place | undefined;
}

/**
 * Every event of a call by its name.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'skillcell';
 *
 * await using runtime = createRuntime();
 * const stop = runtime.on('log', ({ call, text }) => process.stderr.write(`${call.id} ${text}`));
 * await runtime.execute('text/word_stats', { text: 'To be' });
 * stop();
 * ```
 */
export interface CallEvents {
  /**
   * The call was made, and will have a receipt whatever happens. The first event of a call; every call has it but those
   * that are refused because no receipt can be written, which have no event at all.
   */
  accepted: { call: RunningCall };
  /** Everything in front of the cell agreed; the call is handed to it now. */
  started: { call: RunningCall; skill: SkillIdentity; execution: Place };
  /**
   * What the skill printed: at once, piece by piece. A call that has secrets tells it when it is over: they can only be
   * taken out of the whole.
   */
  log: { call: RunningCall; text: string };
  /** An act was stopped. Told when the call is over, once for each. */
  denied: { call: RunningCall; denial: CapabilityEvent };
  /** The call ended because of a limit. */
  limit: { call: RunningCall; limit: LimitName; error: ErrorBody };
  /** The call is over, and its receipt is written. The last event of every call that was accepted. */
  done: { call: RunningCall; outcome: Outcome };
}

export type CallEventName = keyof CallEvents;

/** One event, told apart by its `type`. */
export type CallEvent<Name extends CallEventName = CallEventName> = {
  [Each in Name]: { type: Each } & CallEvents[Each];
}[Name];

export type CallListener<Name extends CallEventName = CallEventName> = (event: CallEvent<Name>) => void;
