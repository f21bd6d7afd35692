/**
 * Figures over time, from the receipts: they are still there after a restart.
 *
 * @module
 */
import type { AuditLog, StoredReceipt } from '../index.ts';
import type { Identity } from './access.ts';
import { listReceipts } from './receipts.ts';

export interface Stats {
  from: string;
  to: string;
  /** There were more calls than were looked at. */
  truncated: boolean;
  buckets: Figures[];
}

interface Figures {
  at: string;
  calls: number;
  /** Calls that neither succeeded nor were given up by their caller. */
  failed: number;
  cancelled: number;
  denied: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

/** A caller who goes away is no failure of the skill. */
const ENDS_WELL: ReadonlySet<string> = new Set(['ok', 'cancelled']);
/** More receipts than this are not looked at for one answer. */
const MOST = 5000;

export async function statsOf(
  log: AuditLog,
  identity: Identity,
  { minutes, buckets }: { minutes: number; buckets: number },
): Promise<Stats> {
  const to = Date.now();
  const from = to - minutes * 60_000;
  const since = new Date(from);
  const { receipts: found, older } = await listReceipts(log, identity, { limit: MOST, since });
  const width = (to - from) / buckets;
  const parts: StoredReceipt[][] = Array.from({ length: buckets }, () => []);
  for (const one of found) {
    const at = Math.floor((Date.parse(one.receipt.started_at) - from) / width);
    parts[Math.min(Math.max(at, 0), buckets - 1)]?.push(one);
  }
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    truncated: found.length === MOST || isCut(log, older, from),
    buckets: parts.map((part, at) => figuresOf(part, new Date(from + at * width))),
  };
}

/** Whether what was not looked at would have counted. */
function isCut(log: AuditLog, older: number | undefined, from: number): boolean {
  const [next] = older === undefined ? [] : log.list({ limit: 1, beforeSeq: older });
  return next !== undefined && Date.parse(next.receipt.started_at) >= from;
}

function figuresOf(part: readonly StoredReceipt[], at: Date): Figures {
  const times = part.map(({ receipt }) => receipt.usage.wall_ms).toSorted((a, b) => a - b);
  return {
    at: at.toISOString(),
    calls: part.length,
    failed: part.filter(({ receipt }) => !ENDS_WELL.has(receipt.code)).length,
    cancelled: part.filter(({ receipt }) => receipt.code === 'cancelled').length,
    denied: part.reduce((sum, { receipt }) => sum + receipt.denied_count, 0),
    p50_ms: quantile(times, 0.5),
    p95_ms: quantile(times, 0.95),
  };
}

/** Of sorted values; the value that so large a part is not above. */
function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null;
}
