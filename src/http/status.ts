/**
 * HTTP status codes of errors. The body has the details, in the shape of an outcome.
 *
 * @module
 */
import type { ErrorBody } from '../inside.ts';
import { ERRORS } from '../vocabulary/error-codes.ts';
import { LIMIT_NAMES, type LimitName } from '../vocabulary/limits.ts';

/** Limits with a specific status. */
const LIMIT_STATUS: Partial<Record<LimitName, Status>> = { timeout: 504, busy: 429 };

export type Status =
  | 200
  | 201
  | 400
  | 401
  | 403
  | 404
  | 409
  | 413
  | 415
  | 421
  | 422
  | 429
  | 499
  | 500
  | 502
  | 503
  | 504;

export function statusOf({ code, detail }: Pick<ErrorBody, 'code' | 'detail'>): Status {
  // 503, because the service will be back; 404 would suggest that the skill does not exist.
  const isTemporary =
    detail['closing'] === true || detail['receipts'] !== undefined || detail['access'] === 'broken';
  if (isTemporary) return code === 'internal' ? 500 : 503;
  const limit = LIMIT_NAMES.find((name) => name === detail['limit']);
  const special = code === 'resource_exceeded' && limit !== undefined ? LIMIT_STATUS[limit] : undefined;
  return special ?? ERRORS[code].http;
}

/** The longest that a retry is put off: what a worker says ends up in a header. */
const MAX_RETRY_S = 86_400 * 25;

/** Seconds until a retry makes sense. */
export function retryAfterOf({ detail }: Pick<ErrorBody, 'detail'>): number {
  const ms = detail['retry_after_ms'];
  return typeof ms === 'number' && ms > 0 ? Math.min(Math.ceil(ms / 1000), MAX_RETRY_S) : 1;
}
