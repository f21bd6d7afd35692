/**
 * The receipt: what is kept of one call. It says who ran what, with which grant, and how it ended;
 * parameters and results are digests unless the operator asked for more.
 *
 * @module
 */
import { firstEvents } from '../cell/event-list.ts';
import type { ErrorCode, LimitName } from '../errors.ts';
import type { LockState, Origin } from '../load/bundle.ts';
import {
  deniedCount,
  type Capabilities,
  type CapabilityEvent,
  type EventsCut,
  type Execution,
  type Outcome,
  type SkillIdentity,
  type Usage,
} from '../outcome.ts';
import type { GuardAnswer } from '../trust/guard.ts';

export interface Receipt {
  call_id: string;
  started_at: string;
  /** Which front end or tenant made the call, e.g. `cli`. */
  caller: string;
  skill: SkillIdentity;
  origin: Origin;
  lock: LockState;
  execution?: Execution;
  grant_digest: string;
  /** What the guard decided, and why; a call that it stopped has it in its message. */
  decision?: GuardAnswer;
  code: ErrorCode | 'ok';
  /** The limit that was hit, with `resource_exceeded`. */
  limit?: LimitName;
  /** Left out where the text comes from the skill or its parameters and content was not asked for. */
  message?: string;
  usage: Usage;
  used: CapabilityEvent[];
  /** A part of the denials, with the first of each kind; `denied_count` has the true number. */
  denied: CapabilityEvent[];
  denied_count: number;
  /** How many events are not in `used` and `denied`; absent when all are. */
  cut?: EventsCut;
  params_digest: string;
  /** Absent when there was no result. */
  result_digest?: string;
  params?: unknown;
  result?: unknown;
  /** The disk had room for this much only: lists, the guard's answer and content are left out. */
  shortened?: true;
}

export interface ReceiptContext {
  paramsDigest: string;
  resultDigest?: string;
  grantDigest: string;
  origin: Origin;
  lock: LockState;
  caller: string;
  startedAt: Date;
  decision?: GuardAnswer;
  /** Only when the operator asked to keep content. */
  params?: unknown;
  result?: unknown;
}

/** A hostile skill can be denied a million times; the log must not grow with it. */
const EVENTS_KEPT = 64;
const EVENT_TEXT_KEPT = 500;

/** Errors whose message can quote the skill's data or its parameters. */
const QUOTES_CONTENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['skill_error', 'invalid_params']);

/** Builds the receipt of a finished call. */
export function makeReceipt(outcome: Outcome, context: ReceiptContext): Receipt {
  const { execution, capabilities } = outcome;
  const { decision, resultDigest, params, result } = context;
  const kept = { used: cappedEvents(capabilities.used), denied: cappedEvents(capabilities.denied) };
  return {
    call_id: outcome.call_id,
    started_at: context.startedAt.toISOString(),
    caller: context.caller,
    skill: outcome.skill,
    origin: context.origin,
    lock: context.lock,
    ...(execution && { execution }),
    grant_digest: context.grantDigest,
    ...(decision && { decision }),
    ...endOf(outcome, context),
    usage: outcome.usage,
    ...kept,
    denied_count: deniedCount(capabilities),
    ...cutOf(capabilities, kept),
    params_digest: context.paramsDigest,
    ...(resultDigest !== undefined && { result_digest: resultDigest }),
    ...(params !== undefined && { params }),
    ...(result !== undefined && { result }),
  };
}

/** The same receipt in a few kilobytes, for a disk that is full. The true number of denials stays. */
export function shortReceipt(receipt: Receipt): Receipt {
  const { decision: _decision, params: _params, result: _result, ...rest } = receipt;
  const { name, version, digest } = receipt.skill;
  return {
    ...rest,
    caller: shortened(receipt.caller),
    skill: { name: shortened(name), version: shortened(version), digest },
    used: [],
    denied: [],
    shortened: true,
  };
}

function endOf(outcome: Outcome, context: ReceiptContext): Pick<Receipt, 'code' | 'limit' | 'message'> {
  if (outcome.ok) return { code: 'ok' };
  const { code, message, detail } = outcome.error;
  const keepsMessage = !QUOTES_CONTENT.has(code) || context.params !== undefined;
  const limit = code === 'resource_exceeded' ? (detail['limit'] as LimitName | undefined) : undefined;
  return { code, ...(limit && { limit }), ...(keepsMessage && { message: shortened(message) }) };
}

function cappedEvents(events: CapabilityEvent[]): CapabilityEvent[] {
  return firstEvents(events, EVENTS_KEPT).map(({ capability, asked, declared }) => ({
    capability,
    asked: shortened(asked),
    declared: shortened(declared),
  }));
}

function cutOf(
  { used, denied, cut }: Capabilities,
  kept: Pick<Receipt, 'used' | 'denied'>,
): Pick<Receipt, 'cut'> {
  const left = {
    used: used.length - kept.used.length + (cut?.used ?? 0),
    denied: denied.length - kept.denied.length + (cut?.denied ?? 0),
  };
  return left.used + left.denied > 0 ? { cut: left } : {};
}

function shortened(text: string): string {
  return text.length > EVENT_TEXT_KEPT ? `${text.slice(0, EVENT_TEXT_KEPT)}…` : text;
}
