/**
 * Writes the receipt of a finished call.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import type { Outcome } from '../outcome.ts';
import type { GuardAnswer } from '../trust/guard.ts';
import { digest, type CallDigests } from './digests.ts';
import type { AuditLog } from './log.ts';
import { makeReceipt } from './receipt.ts';

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
      origin: bundle?.origin ?? 'external',
      lock: bundle?.lock ?? 'unlocked',
      caller: source.caller,
      startedAt: source.startedAt,
      ...(source.decision ? { decision: source.decision } : {}),
    }),
  );
}
