/**
 * Writes the receipt of a finished call.
 *
 * @module
 */
import { describeOutcome, type CallFacts } from '../cell/describe.ts';
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import type { Outcome } from '../outcome.ts';
import type { GuardAnswer } from '../trust/guard.ts';
import { digest, type CallDigests } from './digests.ts';
import type { AuditLog } from './log.ts';
import { makeReceipt, type ReceiptContext } from './receipt.ts';

export interface ReceiptSource {
  log: AuditLog | undefined;
  startedAt: Date;
  caller: string;
  params: unknown;
  /** Store parameters and result, not only their digests. */
  keepContent: boolean;
  bundle: Bundle | undefined;
  /** What the guard said, when there was one. */
  decision?: GuardAnswer | undefined;
  /** Of the parameters and the grant. */
  digests: () => CallDigests;
}

/** Of a call that waits for its turn: nothing of it has been looked at yet. */
export const NOTHING_YET: CallDigests = { params: '', grant: '' };

export type BegunSource = Pick<ReceiptSource, 'log' | 'startedAt' | 'caller' | 'bundle'> & {
  digests: CallDigests;
};

/** Writes what is true of a call if nothing more is heard of it. */
export function beginReceipt(
  facts: CallFacts,
  { log, bundle, digests, caller, startedAt }: BegunSource,
): void {
  const outcome = describeOutcome(facts, () => {
    throw new SkillError('internal', 'The runtime ended before this call did', {
      fix: 'Look for why it ended. What the skill had done by then is not known.',
    });
  });
  log?.begin(
    makeReceipt(outcome, {
      paramsDigest: digests.params,
      grantDigest: digests.grant,
      ...standingOf(bundle),
      caller,
      startedAt,
    }),
  );
}

export function writeReceipt(outcome: Outcome, source: ReceiptSource): void {
  const { log, bundle, params } = source;
  if (!log) return;
  const digests = source.digests();
  const result = outcome.ok ? { resultDigest: digest(outcome.result) } : {};
  const content = source.keepContent ? { params, ...(outcome.ok ? { result: outcome.result } : {}) } : {};
  log.append(
    makeReceipt(outcome, {
      paramsDigest: digests.params,
      grantDigest: digests.grant,
      ...result,
      ...content,
      ...standingOf(bundle),
      caller: source.caller,
      startedAt: source.startedAt,
      ...(source.decision ? { decision: source.decision } : {}),
    }),
  );
}

function standingOf(bundle: Bundle | undefined): Pick<ReceiptContext, 'origin' | 'lock'> {
  return { origin: bundle?.origin ?? 'external', lock: bundle?.lock ?? 'unlocked' };
}
