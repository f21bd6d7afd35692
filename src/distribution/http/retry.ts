/**
 * When a request is sent again, and after which pause.
 *
 * @module
 */
const BASE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** Sending these twice does the same as sending them once. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT']);
/** The server says that it did nothing. */
const UNTOUCHED: ReadonlySet<number> = new Set([429, 503]);
/** It will never do this, however often it is asked. */
const HOPELESS: ReadonlySet<number> = new Set([501, 505]);

/** `status` is absent if the connection broke. */
export function mayRetry(method: string, status?: number): boolean {
  if (status === undefined) return REPEATABLE.has(method);
  if (UNTOUCHED.has(status)) return true;
  return status >= 500 && !HOPELESS.has(status) && REPEATABLE.has(method);
}

/** Longer each time and different for each client, but never longer than the server asks for within reason. */
export function pauseBefore(attempt: number, retryAfter?: string, now: number = Date.now()): number {
  const own = BASE_MS * 2 ** attempt * (0.5 + Math.random());
  const asked = retryAfter === undefined ? undefined : readRetryAfter(retryAfter, now);
  return Math.min(Math.max(asked ?? own, 0), MAX_PAUSE_MS);
}

/** Seconds, or a date. */
function readRetryAfter(text: string, now: number): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date - now;
}
