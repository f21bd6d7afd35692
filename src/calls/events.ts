/**
 * Events of calls. They are plain data: a listener cannot change anything about a call.
 *
 * @module
 */
import type { ErrorBody } from '../errors.ts';
import type { LimitName } from '../vocabulary/limits.ts';
import type { OutputStream } from '../vocabulary/streams.ts';
import type { Lineage } from './lineage.ts';
import type { Place } from '../vocabulary/place.ts';
import type { CapabilityEvent, Outcome, SkillIdentity } from '../outcome.ts';

/** A call in progress. */
export interface RunningCall {
  /** The `call_id` of its outcome and receipt. */
  readonly id: string;
  /** The skill as the caller named it: an id or a folder. */
  readonly ref: string;
  /** Name of the caller, e.g. `cli`. */
  readonly caller: string;
  readonly startedAt: Date;
  /** Its place in a tree of calls; undefined unless another call made it. */
  readonly lineage?: Lineage | undefined;
  /** Undefined until the call has its turn, has passed all checks, and a cell is chosen. */
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
   * The call was accepted and is certain to have a receipt. The first event of every call, except calls that are refused
   * because no receipt can be written; those have no events.
   */
  accepted: { call: RunningCall };
  /** All checks passed, and the call goes to its cell. */
  started: { call: RunningCall; skill: SkillIdentity; execution: Place };
  /**
   * Output of the skill, as it arrives. For a call with secrets it comes at the end, because secrets can only be removed
   * from the whole text; large output of a command is then only in its result.
   */
  log: {
    call: RunningCall;
    text: string;
    /** Absent if the engine does not tell the streams apart. */
    stream?: OutputStream;
  };
  /** An act was denied. Emitted once per denial, at the end of the call. */
  denied: { call: RunningCall; denial: CapabilityEvent };
  /** The call hit a limit. */
  limit: { call: RunningCall; limit: LimitName; error: ErrorBody };
  /** The call is over, and its receipt is written. The last event of every accepted call. */
  done: { call: RunningCall; outcome: Outcome };
}

/** The name of a call event. */
export type CallEventName = keyof CallEvents;

/** One event, distinguished by its `type`. */
export type CallEvent<Name extends CallEventName = CallEventName> = {
  [Each in Name]: { type: Each } & CallEvents[Each];
}[Name];

/** Receives call events. */
export type CallListener<Name extends CallEventName = CallEventName> = (event: CallEvent<Name>) => void;
