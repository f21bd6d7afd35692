/**
 * Writes the receipt of a finished call.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import type { Outcome } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import { digestJson } from './canonical-json.ts';
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
  grant: Grant | undefined;
}

export function writeReceipt(outcome: Outcome, source: ReceiptSource): void {
  const { log, bundle, grant, params } = source;
  if (!log) return;
  const result = outcome.ok ? { resultDigest: digest(outcome.result) } : {};
  const content = source.keepContent ? { params, ...(outcome.ok ? { result: outcome.result } : {}) } : {};
  log.append(
    makeReceipt(outcome, {
      paramsDigest: digest(params),
      grantDigest: digest(grant ? withoutValues(grant) : null),
      ...result,
      ...content,
      origin: bundle?.origin ?? 'external',
      lock: bundle?.lock ?? 'unlocked',
      caller: source.caller,
      startedAt: source.startedAt,
    }),
  );
}

/** What was granted, the same for every value of a variable and every kind of key. */
function withoutValues(grant: Grant): Record<string, unknown> {
  const secrets = grant.secrets?.map(({ name, hosts }) => ({ name, hosts }));
  return { ...grant, env: Object.keys(grant.env), ...(secrets ? { secrets } : {}) };
}

/** Parameters that are no JSON were refused, but the refusal is written down like any other. */
function digest(value: unknown): string {
  try {
    return digestJson(value);
  } catch {
    return digestJson(`no JSON: ${typeof value}`);
  }
}
