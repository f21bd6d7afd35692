/**
 * Statistics over time, computed from the receipts, so that they survive a restart.
 *
 * @module
 */
import type { AuditLog, StoredReceipt } from '../inside.ts';
import type { Bucket, Stats } from '../web/types.ts';
import type { Identity } from './access.ts';
import { listReceipts, visibleTo } from './receipts.ts';

/** A cancelled call is not a failure of the skill. */
const NOT_FAILED: ReadonlySet<string> = new Set(['ok', 'cancelled']);
/** Maximum number of receipts counted per request. */
const MAX_COUNTED = 5000;

export async function statsOf(
  log: AuditLog,
  identity: Identity,
  { minutes, buckets }: { minutes: number; buckets: number },
): Promise<Stats> {
  const to = Date.now();
  const from = to - minutes * 60_000;
  const since = new Date(from);
  const { receipts: found, older } = await listReceipts(log, identity, { limit: MAX_COUNTED, since });
  const width = (to - from) / buckets;
  const parts: StoredReceipt[][] = Array.from({ length: buckets }, () => []);
  for (const one of found) {
    const at = Math.floor((Date.parse(one.receipt.started_at) - from) / width);
    parts[Math.min(Math.max(at, 0), buckets - 1)]?.push(one);
  }
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    truncated: found.length === MAX_COUNTED || isCut(log, { older, identity, from }),
    buckets: parts.map((part, at) => bucketOf(part, new Date(from + at * width))),
  };
}

interface Uncounted {
  /** The oldest receipt that was scanned. */
  older: StoredReceipt | undefined;
  identity: Identity;
  from: number;
}

/** Whether receipts that were not scanned belong to the time range. */
function isCut(log: AuditLog, { older, identity, from }: Uncounted): boolean {
  const [next] =
    older === undefined ? [] : log.list({ ...visibleTo(identity), limit: 1, beforeSeq: older.seq });
  return next !== undefined && Date.parse(next.receipt.started_at) >= from;
}

function bucketOf(part: readonly StoredReceipt[], at: Date): Bucket {
  // Calls that were refused before they ran have no latency.
  const times = part
    .map(({ receipt }) => receipt.usage.wall_ms)
    .filter((ms) => ms > 0)
    .toSorted((a, b) => a - b);
  return {
    at: at.toISOString(),
    calls: part.length,
    failed: part.filter(({ receipt }) => !NOT_FAILED.has(receipt.code)).length,
    cancelled: part.filter(({ receipt }) => receipt.code === 'cancelled').length,
    denied: part.reduce((sum, { receipt }) => sum + receipt.denied_count, 0),
    p50_ms: quantile(times, 0.5),
    p95_ms: quantile(times, 0.95),
  };
}

/** The smallest value that at least `part` of the sorted values do not exceed. */
function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null;
}
