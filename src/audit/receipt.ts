/**
 * The receipt of one call: who ran what, with which grant, and how it ended. Parameters and results are digests unless the
 * operator asked for their content.
 *
 * @module
 */
import type { Lineage } from '../calls/lineage.ts';
import { firstEvents } from '../cell/protocol/event-list.ts';
import type { ErrorCode } from '../vocabulary/error-codes.ts';
import type { LimitName } from '../vocabulary/limits.ts';
import type { LockState } from '../load/bundle.ts';
import type { Origin } from '../vocabulary/origins.ts';
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

/**
 * The record of a call: who called what, where it ran, what it used, how it ended. `parent`, `root` and `depth` are
 * present only if another call made it.
 */
export interface Receipt extends Partial<Lineage> {
  call_id: string;
  started_at: string;
  /** The front end or tenant that made the call, e.g. `cli`. */
  caller: string;
  skill: SkillIdentity;
  origin: Origin;
  lock: LockState;
  execution?: Execution;
  grant_digest: string;
  /** The guard's decision and reason; if it stopped the call, they are in the message. */
  decision?: GuardAnswer;
  code: ErrorCode | 'ok';
  /** The limit that was hit, with `resource_exceeded`. */
  limit?: LimitName;
  /** Absent if the text may quote the skill or its parameters, unless content is kept. */
  message?: string;
  usage: Usage;
  used: CapabilityEvent[];
  /** Some of the denials, with the first of each kind; `denied_count` is the full number. */
  denied: CapabilityEvent[];
  denied_count: number;
  /** Number of events missing from `used` and `denied`; absent when none is. */
  cut?: EventsCut;
  params_digest: string;
  /** Absent when there was no result. */
  result_digest?: string;
  params?: unknown;
  result?: unknown;
  /** The disk was full: lists, the guard's answer and content are left out. */
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
  lineage?: Lineage | undefined;
  decision?: GuardAnswer;
  /** Only if the operator asked to keep content. */
  params?: unknown;
  result?: unknown;
}

/** Bounded, because a hostile skill can be denied a million times. */
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
    ...context.lineage,
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

/** The same receipt in a few kilobytes, for a full disk. Keeps the full number of denials. */
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
