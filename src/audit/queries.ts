/**
 * What the log can be asked, whoever has it open.
 *
 * @module
 */
import { hash as hashOf } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { earliestCallId } from './call-id.ts';
import type { Receipt } from './receipt.ts';

export interface StoredReceipt {
  seq: number;
  hash: string;
  receipt: Receipt;
}

export interface ListOptions {
  /** Newest first; 50 when absent. */
  limit?: number;
  skill?: string;
  code?: Receipt['code'];
  deniedOnly?: boolean;
  /** Only receipts before this one, by its number. */
  beforeSeq?: number;
  /** Only receipts from this one on, by its number. What lies before costs nothing. */
  fromSeq?: number;
  /** Only calls that began at this time or later. */
  since?: Date;
  /** Only calls of callers whose name begins like this. */
  callerPrefix?: string;
}

export interface Verification {
  ok: boolean;
  /** Receipts whose place in the chain is proven. */
  count: number;
  /** Hash of the last proven receipt. Remember it elsewhere to notice a cut or rebuilt log. */
  head: string;
  /** Sequence number of the first receipt that does not fit. */
  brokenAt?: number;
  reason?: string;
}

/** What the first receipt is chained to. */
export const GENESIS: string = '0'.repeat(64);

/** What is asked of the log. */
export interface AuditReader {
  list(options?: ListOptions): StoredReceipt[];
  show(callId: string): StoredReceipt | undefined;
  /** Checks the whole chain, and that a remembered head is still part of it. */
  verify(options?: { rememberedHead?: string }): Verification;
}

export function reader(statements: Statements): AuditReader {
  return {
    list: (filter = {}) => list(statements, filter),
    show: (callId) => show(statements, callId),
    verify: (expected = {}) =>
      verifyChain(statements.all.iterate() as Iterable<Row>, expected.rememberedHead),
  };
}

interface Row {
  seq: number;
  prev: string;
  hash: string;
  body: string;
}

export interface Statements {
  all: StatementSync;
  firstSince: StatementSync;
  show: StatementSync;
  list: StatementSync;
}

export function prepareQueries(database: DatabaseSync): Statements {
  return {
    all: database.prepare('SELECT seq, prev, hash, body FROM receipt ORDER BY seq'),
    // Ids sort by time and have an index: what lies far back is not even looked at. The plus keeps SQLite from looking
    // for the smallest number first.
    firstSince: database.prepare('SELECT min(+seq) AS seq FROM receipt WHERE call_id >= ?'),
    show: database.prepare('SELECT seq, hash, body FROM receipt WHERE call_id = ? ORDER BY seq DESC'),
    list: database.prepare(`
      SELECT seq, hash, body FROM receipt
      WHERE (:skill IS NULL OR skill = :skill) AND (:code IS NULL OR code = :code)
        AND (:denied_only = 0 OR denied_count > 0)
        AND seq < :before_seq AND seq >= :from_seq
        AND (:since IS NULL OR body ->> '$.started_at' >= :since)
        AND (:caller IS NULL OR substr(body ->> '$.caller', 1, length(:caller)) = :caller)
      ORDER BY seq DESC LIMIT :limit`),
  };
}

function show(statements: Statements, callId: string): StoredReceipt | undefined {
  const row = statements.show.get(callId);
  return row && toStored(row);
}

function list(statements: Statements, filter: ListOptions): StoredReceipt[] {
  const rows = statements.list.all({
    skill: filter.skill ?? null,
    code: filter.code ?? null,
    denied_only: filter.deniedOnly === true ? 1 : 0,
    before_seq: filter.beforeSeq ?? Number.MAX_SAFE_INTEGER,
    from_seq: Math.max(filter.fromSeq ?? 0, filter.since ? firstSince(statements, filter.since) : 0),
    since: filter.since?.toISOString() ?? null,
    caller: filter.callerPrefix ?? null,
    limit: filter.limit ?? 50,
  });
  return rows.map(toStored);
}

function firstSince(statements: Statements, since: Date): number {
  const found = statements.firstSince.get(earliestCallId(since))?.['seq'];
  return typeof found === 'number' ? found : Number.MAX_SAFE_INTEGER;
}

function toStored(row: Record<string, unknown>): StoredReceipt {
  return {
    seq: Number(row['seq']),
    hash: String(row['hash']),
    receipt: JSON.parse(String(row['body'])) as Receipt,
  };
}

export function chainHash(prev: string, body: string): string {
  return hashOf('sha256', prev + body, 'hex');
}

function verifyChain(rows: Iterable<Row>, rememberedHead: string | undefined): Verification {
  let head = GENESIS;
  let count = 0;
  let seen = rememberedHead === undefined || rememberedHead === GENESIS;
  for (const row of rows) {
    const reason = faultOf(row, { seq: count + 1, prev: head });
    if (reason !== undefined) return { ok: false, count, head, brokenAt: row.seq, reason };
    head = row.hash;
    count += 1;
    seen ||= head === rememberedHead;
  }
  if (seen) return { ok: true, count, head };
  return {
    ok: false,
    count,
    head,
    reason: 'the remembered head is gone: newer receipts were cut off or rebuilt',
  };
}

function faultOf(row: Row, expected: { seq: number; prev: string }): string | undefined {
  if (row.seq !== expected.seq) return `receipt ${expected.seq} is missing`;
  if (row.prev !== expected.prev) return 'it does not follow the receipt before it';
  if (row.hash !== chainHash(row.prev, row.body)) return 'its content was changed';
  return undefined;
}
