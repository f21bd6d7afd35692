/**
 * The audit log: one receipt per call, each hashed together with the hash before it. Who changes, removes
 * or reorders a receipt breaks the chain. The chain has no key: who can write the file can rebuild it from
 * any point, and who cuts off the newest receipts leaves a valid shorter one. Both show only against a
 * head that was remembered elsewhere, which is why `verify` returns it and takes one.
 *
 * @module
 */
import { hash as hashOf } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { toSkillError } from '../errors.ts';
import { earliestCallId } from './call-id.ts';
import { Intake } from './intake.ts';
import { Journal, journalsLeftBehind, readJournal } from './journal.ts';
import { openDatabase } from './open-database.ts';
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

export interface AuditLog {
  /** Notes what is true of a call if this process ends before it. The receipt with the same call id takes its place. */
  begin(receipt: Receipt): void;
  /** Adds a receipt: safe from a crash of this process at once, at the end of the chain a moment later. */
  append(receipt: Receipt): void;
  list(options?: ListOptions): StoredReceipt[];
  show(callId: string): StoredReceipt | undefined;
  /** Checks the whole chain, and that a remembered head is still part of it. */
  verify(options?: { rememberedHead?: string }): Verification;
  close(): void;
}

export interface AuditLogOptions {
  file: string;
  /** How long to wait for another process that is writing. */
  busyTimeoutMs?: number;
}

/** What the first receipt is chained to. */
export const GENESIS: string = '0'.repeat(64);

/** Opens the log. Several processes may have the same file open and append to one chain. */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  const { file, busyTimeoutMs = 5000 } = options;
  const database = openDatabase(file, busyTimeoutMs);
  const statements = prepareStatements(database);
  const appender = new Appender(database, statements);
  recover(file, statements, appender);
  const intake = new Intake(new Journal(file), (bodies) => appender.append(bodies));
  /** Whoever reads sees what is on its way as well. */
  const current = <T>(read: () => T): T => {
    intake.bringIn();
    return read();
  };
  return {
    begin: (receipt) => intake.begin(receipt),
    append: (receipt) => intake.end(receipt),
    list: (filter = {}) => current(() => list(statements, filter)),
    show: (callId) => current(() => show(statements, callId)),
    verify: (expected = {}) =>
      current(() => verifyChain(statements.all.iterate() as Iterable<Row>, expected.rememberedHead)),
    close: () => {
      intake.close();
      database.close();
    },
  };
}

interface Row {
  seq: number;
  prev: string;
  hash: string;
  body: string;
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: DatabaseSync) {
  return {
    last: database.prepare('SELECT seq, hash FROM receipt ORDER BY seq DESC LIMIT 1'),
    insert: database.prepare('INSERT INTO receipt (seq, prev, hash, body) VALUES (?, ?, ?, ?)'),
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

/** Appends to one chain that other processes append to as well. */
class Appender {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  /** What this process added last. Where the log ends before it, receipts were cut off: the gap has to show. */
  #own: Link | undefined;

  constructor(database: DatabaseSync, statements: Statements) {
    this.#database = database;
    this.#statements = statements;
  }

  append(bodies: readonly string[]): void {
    try {
      // The write lock is taken before the last hash is read: no other process can slip in between.
      this.#database.exec('BEGIN IMMEDIATE');
      let last = this.#last();
      for (const body of bodies) last = this.#add(last, body);
      this.#database.exec('COMMIT');
      this.#own = last;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw toSkillError(error);
    }
  }

  #last(): Link {
    const row = this.#statements.last.get();
    const last = row ? { seq: Number(row['seq']), hash: String(row['hash']) } : { seq: 0, hash: GENESIS };
    return this.#own && this.#own.seq > last.seq ? this.#own : last;
  }

  #add(last: Link, body: string): Link {
    const next = { seq: last.seq + 1, hash: chainHash(last.hash, body) };
    this.#statements.insert.run(next.seq, last.hash, next.hash, body);
    return next;
  }
}

/** What a process that was killed had not yet brought in. */
function recover(file: string, statements: Statements, appender: Appender): void {
  for (const journal of journalsLeftBehind(file)) {
    const unknown = [...readJournal(journal)].filter(([callId]) => !statements.show.get(callId));
    if (unknown.length > 0) appender.append(unknown.map(([, body]) => body));
    rmSync(journal, { force: true });
  }
}

/** The end of the chain. */
interface Link {
  seq: number;
  hash: string;
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

function chainHash(prev: string, body: string): string {
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
