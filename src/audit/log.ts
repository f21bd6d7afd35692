/**
 * The audit log: one receipt per call, each hashed together with the hash before it. Changing, removing or reordering a
 * receipt breaks the chain. The chain has no key: anyone who can write the file can rebuild it from any point, and cutting
 * off the newest receipts leaves a valid shorter chain. Only a head that was stored elsewhere reveals both, so `verify`
 * returns the head and accepts one.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs';
import { Appender } from './appender.ts';
import { cannotWrite, LOG_GONE, LOG_REPLACED } from './cannot-write.ts';
import { Intake, type Patience } from './intake.ts';
import type { JournalFiles } from './journal-file.ts';
import { Journal } from './journal.ts';
import { recoverJournals, countUnrecovered } from './left-behind.ts';
import { openDatabase, openToRead } from './open-database.ts';
import type { Offload } from '../offload/offload.ts';
import type { Task } from '../offload/task.ts';
import { prepareQueries, reader, type AuditReader } from './queries.ts';
import type { ListOptions, StoredReceipt, Verification } from './queries.ts';
import type { Receipt } from './receipt.ts';
import { LIST_RECEIPTS, VERIFY_LOG } from './tasks.ts';

/** The log of receipts, open for writing. */
export interface AuditLog extends AuditReader {
  /** `list` and `verify` in a worker thread, for services that must stay responsive. */
  readonly elsewhere: AuditQueries;
  /** Writes a provisional receipt in case this process ends before the call. The final receipt has the same call id. */
  begin(receipt: Receipt): void;
  /** Adds a receipt. It survives a crash of this process immediately and joins the chain a moment later. */
  append(receipt: Receipt): void;
  /** Holds a receipt that could not be written until it can be. */
  keep(receipt: Receipt): void;
  /** Throws unless the receipt of a call that begins now could be written. */
  assertWritable(): void;
  close(): void;
}

export interface AuditQueries {
  list(filter: ListOptions): Promise<StoredReceipt[]>;
  verify(): Promise<Verification>;
}

/** A log open for reading. `leftBehind` counts receipts in journals of dead processes. */
export interface ReadLog extends AuditReader, Disposable {
  readonly leftBehind: number;
}

export interface AuditLogOptions {
  file: string;
  /** How long to wait for another process that is writing. */
  busyTimeoutMs?: number;
  /** Disk access of the journal; tests make it fail. */
  files?: JournalFiles;
  /** Worker threads for queries over many receipts; absent: they run on the caller's thread. */
  offload?: Offload;
}

/** Verifying millions of receipts takes a fraction of this. */
const VERIFY_DEADLINE_MS = 10 * 60_000;
const LIST_DEADLINE_MS = 30_000;

/** The host blocks while it waits for another writer. */
const WAITS_MS: Readonly<Record<Patience, number | undefined>> = { none: 0, some: 1000, most: undefined };

/** Opens the log. Several processes may have the same file open and append to one chain. */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  const { file, busyTimeoutMs = 5000, files, offload } = options;
  const database = openDatabase(file, busyTimeoutMs);
  const queries = prepareQueries(database);
  const appender = new Appender(database);
  try {
    recoverJournals(file, (lines) => {
      const unknown = [...lines].filter(([callId]) => !queries.show.get(callId)).map(([, body]) => body);
      if (unknown.length > 0) appender.append(unknown, busyTimeoutMs);
    });
  } catch (error) {
    database.close();
    throw cannotWrite(error);
  }
  const assertInPlace = placeCheck(file);
  const intake = new Intake(new Journal(file, files), (bodies, patience) => {
    assertInPlace();
    appender.append(bodies, WAITS_MS[patience] ?? busyTimeoutMs);
  });
  const read = reader(queries);
  /** Flushes before a query, so that it sees all receipts. */
  const current = <T>(ask: () => T): T => {
    intake.flush();
    return ask();
  };
  const list: AuditReader['list'] = (filter) => current(() => read.list(filter));
  const verify: AuditReader['verify'] = (expected) => current(() => read.verify(expected));
  return {
    elsewhere: offload ? elsewhere(file, offload, () => intake.flush()) : here({ list, verify }),
    begin: (receipt) => {
      assertInPlace();
      intake.begin(receipt);
    },
    append: (receipt) => intake.end(receipt),
    keep: (receipt) => intake.keep(receipt),
    assertWritable: () => {
      assertInPlace();
      intake.assertWritable();
    },
    list,
    show: (callId) => current(() => read.show(callId)),
    tree: (callId, limit) => current(() => read.tree(callId, limit)),
    verify,
    pages: (filter) => current(() => read.pages(filter)),
    rows: (afterSeq, limit) => current(() => read.rows(afterSeq, limit)),
    close: () => {
      try {
        intake.close();
      } finally {
        database.close();
      }
    },
  };
}

function here({ list, verify }: Pick<AuditReader, 'list' | 'verify'>): AuditQueries {
  return { list: async (filter) => list(filter), verify: async () => verify() };
}

function elsewhere(file: string, offload: Offload, flush: () => void): AuditQueries {
  const ask = <In, Out>(task: Task<In, Out>, input: In, deadlineMs: number): Promise<Out> => {
    flush();
    return offload.run(task, input, { deadlineMs, owner: 'audit' });
  };
  return {
    list: (filter) => ask(LIST_RECEIPTS, { file, filter }, LIST_DEADLINE_MS),
    verify: () => ask(VERIFY_LOG, { file }, VERIFY_DEADLINE_MS),
  };
}

/**
 * A log that was moved or deleted still takes receipts through its open descriptor, where they would be lost. The returned
 * function throws `skill_unavailable` in that case; receipts of calls that have ended stay in the journal.
 */
function placeCheck(file: string): () => void {
  const identity = (): string => {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true });
    return found ? `${found.dev}:${found.ino}` : 'none';
  };
  const own = identity();
  return () => {
    const now = identity();
    if (now !== own) throw cannotWrite({ code: now === 'none' ? LOG_GONE : LOG_REPLACED });
  };
}

/** Opens the log without changing any receipt, journal or file. Undefined when there is no log yet. */
export function readAuditLog(file: string): ReadLog | undefined {
  if (!existsSync(file)) return undefined;
  const database = openToRead(file);
  const queries = prepareQueries(database);
  return {
    ...reader(queries),
    leftBehind: countUnrecovered(file, (callId) => queries.show.get(callId) !== undefined),
    [Symbol.dispose]: () => database.close(),
  };
}
