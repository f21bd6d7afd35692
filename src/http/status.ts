/**
 * Which HTTP status each way to fail has. The body says the rest, in the shape of an outcome.
 *
 * @module
 */
import type { ErrorBody, ErrorCode } from '../index.ts';

/** A limit of `resource_exceeded` can have a status of its own. */
const STATUS: Readonly<Record<ErrorCode | `resource_exceeded/${string}`, Status>> = {
  skill_error: 422,
  usage: 400,
  invalid_params: 400,
  manifest_invalid: 409,
  manifest_drift: 409,
  unenforceable: 409,
  capability_denied: 403,
  resource_exceeded: 422,
  'resource_exceeded/timeout': 504,
  'resource_exceeded/busy': 429,
  untrusted: 403,
  approval_required: 403,
  signature_invalid: 403,
  skill_unavailable: 404,
  internal: 500,
  // Not in any standard, but what proxies write into their logs for a client that has gone.
  cancelled: 499,
};

export type Status = 200 | 400 | 401 | 403 | 404 | 409 | 413 | 415 | 421 | 422 | 429 | 499 | 500 | 503 | 504;

export function statusOf({ code, detail }: Pick<ErrorBody, 'code' | 'detail'>): Status {
  // It will be back: no reason to think that the skill is not there.
  if (detail['closing'] === true || detail['receipts'] !== undefined) return code === 'internal' ? 500 : 503;
  const limit = detail['limit'];
  const special = typeof limit === 'string' ? STATUS[`resource_exceeded/${limit}`] : undefined;
  return code === 'resource_exceeded' ? (special ?? STATUS[code]) : STATUS[code];
}

/** Whole seconds after which it is worth trying again. */
export function retryAfterOf({ detail }: Pick<ErrorBody, 'detail'>): number {
  const ms = detail['retry_after_ms'];
  return typeof ms === 'number' && ms > 0 ? Math.ceil(ms / 1000) : 1;
}
