/**
 * Queries of the log, for readers and writers.
 *
 * @module
 */
import { hash as hashOf } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { earliestCallId } from './call-id.ts';
import { CALLER_PREFIX, ROOT } from './open-database.ts';
import { checkpointFault, readCheckpoints, type Checkpoint } from './checkpoints.ts';
import type { Receipt } from './receipt.ts';
import type { Mode } from '../vocabulary/modes.ts';

/** A receipt in the log with its number and its hash in the chain. */
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
  /** Only receipts from this one on, by its number. Earlier ones are not read. */
  fromSeq?: number;
  /** Only calls that began at this time or later. */
  since?: Date;
  /** Only calls that began before this time. */
  until?: Date;
  /** Only calls of exactly this caller. */
  caller?: string;
  /** Only calls that ran in this mode. */
  mode?: Mode;
  /** Only calls that failed, whatever their code. */
  failedOnly?: boolean;
  /** Only calls whose caller up to its last colon is this, such as `http:acme:`. Uses an index. */
  callerPrefix?: string;
  /** Skips this many of the newest. */
  skip?: number;
}

/** Whether the chain of receipts is intact, and where it breaks. */
export interface Verification {
  ok: boolean;
  /** Number of receipts that were verified. */
  count: number;
  /** Hash of the last verified receipt. Store it elsewhere to detect a truncated or rebuilt log. */
  head: string;
  /** Sequence number of the first receipt that does not fit. */
  brokenAt?: number;
  reason?: string;
  /** Receipts that were removed before the first verified one; absent if none was. */
  pruned?: Checkpoint;
}

const PAGE = 500;

/** The hash that the first receipt is chained to. */
export const GENESIS: string = '0'.repeat(64);

/** Read access to the log. */
export interface AuditReader {
  list(options?: ListOptions): StoredReceipt[];
  show(callId: string): StoredReceipt | undefined;
  /** The whole tree of calls that this one belongs to, in the order in which they began. Empty for an unknown call. */
  tree(callId: string, limit?: number): StoredReceipt[];
  /** All matching receipts, oldest first, in pages. */
  pages(filter: ListOptions): Generator<StoredReceipt[]>;
  /** Exact rows after this number, oldest first: what another place needs to verify the chain again. */
  rows(afterSeq: number, limit: number): Row[];
  /** Checks the whole chain, and that a remembered head is still part of it. */
  verify(options?: { rememberedHead?: string }): Verification;
}

export function reader(statements: Statements): AuditReader {
  return {
    list: (filter = {}) => list(statements, filter),
    show: (callId) => show(statements, callId),
    tree: (callId, limit) => tree(statements, callId, limit),
    verify: (expected = {}) =>
      verifyChain(statements.all.iterate() as Iterable<Row>, {
        rememberedHead: expected.rememberedHead,
        checkpoints: readCheckpoints(statements.database),
      }),
    pages: (filter) => pages(statements, filter),
    rows: (afterSeq, limit) => statements.rows.all(afterSeq, limit) as unknown as Row[],
  };
}

/** One receipt exactly as it is chained. */
export interface Row {
  seq: number;
  prev: string;
  hash: string;
  body: string;
}

export interface Statements {
  database: DatabaseSync;
  listUp: StatementSync;
  all: StatementSync;
  rows: StatementSync;
  firstSince: StatementSync;
  show: StatementSync;
  inner: StatementSync;
  list: StatementSync;
  listOfCaller: StatementSync;
}

export function prepareQueries(database: DatabaseSync): Statements {
  return {
    database,
    listUp: database.prepare(listing('true', 'ASC')),
    all: database.prepare('SELECT seq, prev, hash, body FROM receipt ORDER BY seq'),
    rows: database.prepare('SELECT seq, prev, hash, body FROM receipt WHERE seq > ? ORDER BY seq LIMIT ?'),
    // Ids sort by time and have an index, so old receipts are not read. The plus keeps SQLite from scanning for the
    // smallest number first.
    firstSince: database.prepare('SELECT min(+seq) AS seq FROM receipt WHERE call_id >= ?'),
    show: database.prepare('SELECT seq, hash, body FROM receipt WHERE call_id = ? ORDER BY seq DESC'),
    // The second condition is the one of the index.
    inner: database.prepare(
      `SELECT seq, hash, body FROM receipt WHERE ${ROOT} = ? AND ${ROOT} IS NOT NULL ORDER BY call_id, seq LIMIT ?`,
    ),
    list: database.prepare(listing('true')),
    // Does not read receipts of other callers.
    listOfCaller: database.prepare(listing(`${CALLER_PREFIX} = :caller`)),
  };
}

function listing(condition: string, order: 'ASC' | 'DESC' = 'DESC'): string {
  return `
    SELECT seq, hash, body FROM receipt
    WHERE ${condition} AND seq < :before_seq AND seq >= :from_seq
      AND (:skill IS NULL OR skill = :skill) AND (:code IS NULL OR code = :code)
      AND (:denied_only = 0 OR denied_count > 0)
      AND (:since IS NULL OR body ->> '$.started_at' >= :since)
      AND (:until IS NULL OR body ->> '$.started_at' < :until)
      AND (:exact_caller IS NULL OR body ->> '$.caller' = :exact_caller)
      AND (:mode IS NULL OR body ->> '$.execution.mode' = :mode)
      AND (:failed_only = 0 OR code <> 'ok')
    ORDER BY seq ${order} LIMIT :limit OFFSET :skip`;
}

function show(statements: Statements, callId: string): StoredReceipt | undefined {
  const row = statements.show.get(callId);
  return row && toStored(row);
}

/** No limit, for SQLite. */
const ALL = -1;

/** A call whose receipt was pruned or is still to come has a tree without it. */
function tree(statements: Statements, callId: string, limit: number = ALL): StoredReceipt[] {
  const asked = show(statements, callId);
  const root = asked?.receipt.root ?? callId;
  const first = root === callId ? asked : show(statements, root);
  return [...(first ? [first] : []), ...statements.inner.all(root, limit).map(toStored)];
}

function list(statements: Statements, filter: ListOptions): StoredReceipt[] {
  const { callerPrefix } = filter;
  const values = valuesOf(statements, filter);
  const rows =
    callerPrefix === undefined
      ? statements.list.all(values)
      : statements.listOfCaller.all({ ...values, caller: callerPrefix });
  return rows.map(toStored);
}

/** Each page is its own query, so that a slow reader keeps no snapshot of the log open. */
function* pages(statements: Statements, filter: ListOptions): Generator<StoredReceipt[]> {
  const { callerPrefix, limit = Number.MAX_SAFE_INTEGER } = filter;
  const values: QueryValues = { ...valuesOf(statements, filter), limit: PAGE };
  for (let left = limit; left > 0;) {
    const found = statements.listUp.all(values).map(toStored);
    const matching = found.filter(
      ({ receipt }) => callerPrefix === undefined || prefixOf(receipt.caller) === callerPrefix,
    );
    yield matching.slice(0, left);
    left -= matching.length;
    const last = found.at(-1);
    if (!last || found.length < PAGE) return;
    values['from_seq'] = last.seq + 1;
  }
}

function prefixOf(caller: string): string {
  return caller.slice(0, caller.lastIndexOf(':') + 1);
}

type QueryValues = Record<string, string | number | null>;

function valuesOf(statements: Statements, filter: ListOptions): QueryValues {
  return {
    skill: filter.skill ?? null,
    code: filter.code ?? null,
    denied_only: filter.deniedOnly === true ? 1 : 0,
    before_seq: filter.beforeSeq ?? Number.MAX_SAFE_INTEGER,
    from_seq: Math.max(filter.fromSeq ?? 0, filter.since ? firstSince(statements, filter.since) : 0),
    since: filter.since?.toISOString() ?? null,
    until: filter.until?.toISOString() ?? null,
    exact_caller: filter.caller ?? null,
    mode: filter.mode ?? null,
    failed_only: filter.failedOnly === true ? 1 : 0,
    limit: filter.limit ?? 50,
    skip: filter.skip ?? 0,
  };
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

interface Expected {
  rememberedHead?: string | undefined;
  checkpoints: readonly Checkpoint[];
}

function verifyChain(rows: Iterable<Row>, { rememberedHead, checkpoints }: Expected): Verification {
  const pruned = checkpoints.at(-1);
  const start = { seq: pruned?.through_seq ?? 0, hash: pruned?.through_hash ?? GENESIS };
  const found = pruned ? { pruned } : {};
  const fault = checkpointFault(checkpoints);
  if (fault !== undefined) return { ok: false, count: 0, head: start.hash, reason: fault, ...found };
  let head = start.hash;
  let count = 0;
  // A head that must still be in the log does not count as known, or cutting it off would go unnoticed.
  const removedHeads = checkpoints.filter((one) => one.head_seq <= start.seq);
  const known = [
    GENESIS,
    ...checkpoints.map((one) => one.through_hash),
    ...removedHeads.map((one) => one.head_hash),
  ];
  let seen = rememberedHead === undefined || known.includes(rememberedHead);
  for (const row of rows) {
    const reason = faultOf(row, { seq: start.seq + count + 1, prev: head });
    if (reason !== undefined) return { ok: false, count, head, brokenAt: row.seq, reason, ...found };
    head = row.hash;
    count += 1;
    seen ||= head === rememberedHead;
  }
  if (seen) return { ok: true, count, head, ...found };
  const missing = pruned
    ? 'the remembered head is missing: it was pruned, or newer receipts were cut off or rebuilt'
    : 'the remembered head is missing: newer receipts were cut off or rebuilt';
  return { ok: false, count, head, reason: missing, ...found };
}

export function faultOf(row: Row, expected: { seq: number; prev: string }): string | undefined {
  if (row.seq !== expected.seq) return `receipt ${expected.seq} is missing`;
  if (row.prev !== expected.prev) return 'it does not follow the receipt before it';
  if (row.hash !== chainHash(row.prev, row.body)) return 'its content was changed';
  return undefined;
}
