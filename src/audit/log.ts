/**
 * The audit log: one receipt per call, each hashed together with the hash before it. Who changes, removes
 * or reorders a receipt breaks the chain. The chain has no key: who can write the file can rebuild it from
 * any point, and who cuts off the newest receipts leaves a valid shorter one. Both show only against a
 * head that was remembered elsewhere, which is why `verify` returns it and takes one.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs';
import { Appender } from './appender.ts';
import { cannotWrite, LOG_GONE, LOG_REPLACED } from './cannot-write.ts';
import { Intake, type Patience } from './intake.ts';
import type { JournalFiles } from './journal-file.ts';
import { Journal } from './journal.ts';
import { bringInLeftBehind, countLeftBehind } from './left-behind.ts';
import { openDatabase, openToRead } from './open-database.ts';
import type { Offload } from '../offload/offload.ts';
import type { Task } from '../offload/task.ts';
import { GENESIS, prepareQueries, reader, type AuditReader } from './queries.ts';
import type { ListOptions, StoredReceipt, Verification } from './queries.ts';
import type { Receipt } from './receipt.ts';
import { LIST_RECEIPTS, VERIFY_LOG } from './tasks.ts';

export { GENESIS };
export type { AuditReader, ListOptions, StoredReceipt, Verification } from './queries.ts';

export interface AuditLog extends AuditReader {
  /** `list` and `verify` by a worker thread, for whoever serves others meanwhile. */
  readonly elsewhere: AuditQueries;
  /** Notes what is true of a call if this process ends before it. The receipt with the same call id takes its place. */
  begin(receipt: Receipt): void;
  /** Adds a receipt: safe from a crash of this process at once, at the end of the chain a moment later. */
  append(receipt: Receipt): void;
  /** Takes a receipt that could not be written, for the moment when it can be. */
  keep(receipt: Receipt): void;
  /** Throws unless a call that begins now could get its receipt. */
  assertWritable(): void;
  close(): void;
}

export interface AuditQueries {
  list(filter: ListOptions): Promise<StoredReceipt[]>;
  verify(): Promise<Verification>;
}

/** Of a log that is only read: the receipts that wait for a process that may write them. */
export interface ReadLog extends AuditReader, Disposable {
  readonly leftBehind: number;
}

export interface AuditLogOptions {
  file: string;
  /** How long to wait for another process that is writing. */
  busyTimeoutMs?: number;
  /** How the journal reaches the disk; tests have it fail. */
  files?: JournalFiles;
  /** Worker threads for questions about many receipts; absent: they are answered by the caller's own. */
  offload?: Offload;
}

/** A log of millions of receipts is verified in a fraction of it. */
const VERIFY_DEADLINE_MS = 10 * 60_000;
const LIST_DEADLINE_MS = 30_000;

/** While it waits for another process that writes, a host answers nobody. */
const WAITS_MS: Readonly<Record<Patience, number | undefined>> = { none: 0, some: 1000, most: undefined };

/** Opens the log. Several processes may have the same file open and append to one chain. */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  const { file, busyTimeoutMs = 5000, files, offload } = options;
  const database = openDatabase(file, busyTimeoutMs);
  const queries = prepareQueries(database);
  const appender = new Appender(database);
  try {
    bringInLeftBehind(file, (lines) => {
      const unknown = [...lines].filter(([callId]) => !queries.show.get(callId)).map(([, body]) => body);
      if (unknown.length > 0) appender.append(unknown, busyTimeoutMs);
    });
  } catch (error) {
    database.close();
    throw cannotWrite(error);
  }
  const assertInPlace = placeOf(file);
  const intake = new Intake(new Journal(file, files), (bodies, patience) => {
    assertInPlace();
    appender.append(bodies, WAITS_MS[patience] ?? busyTimeoutMs);
  });
  const read = reader(queries);
  /** Whoever reads sees what is on its way as well. */
  const current = <T>(ask: () => T): T => {
    intake.bringIn();
    return ask();
  };
  const list: AuditReader['list'] = (filter) => current(() => read.list(filter));
  const verify: AuditReader['verify'] = (expected) => current(() => read.verify(expected));
  return {
    elsewhere: offload ? elsewhere(file, offload, () => intake.bringIn()) : here({ list, verify }),
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
    verify,
    close: () => {
      intake.close();
      database.close();
    },
  };
}

function here({ list, verify }: Pick<AuditReader, 'list' | 'verify'>): AuditQueries {
  return { list: async (filter) => list(filter), verify: async () => verify() };
}

function elsewhere(file: string, offload: Offload, bringIn: () => void): AuditQueries {
  const ask = <In, Out>(task: Task<In, Out>, input: In, deadlineMs: number): Promise<Out> => {
    bringIn();
    return offload.run(task, input, { deadlineMs, owner: 'audit' });
  };
  return {
    list: (filter) => ask(LIST_RECEIPTS, { file, filter }, LIST_DEADLINE_MS),
    verify: () => ask(VERIFY_LOG, { file }, VERIFY_DEADLINE_MS),
  };
}

/**
 * A log that was moved away or deleted still takes receipts through its open descriptor, and nobody would ever find them. The
 * returned function throws `skill_unavailable` then; what has ended meanwhile stays in the journal.
 */
function placeOf(file: string): () => void {
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

/** Opens the log and changes nothing: no receipt, no journal, no file. Undefined when there is none yet. */
export function readAuditLog(file: string): ReadLog | undefined {
  if (!existsSync(file)) return undefined;
  const database = openToRead(file);
  const queries = prepareQueries(database);
  return {
    ...reader(queries),
    leftBehind: countLeftBehind(file, (callId) => queries.show.get(callId) !== undefined),
    [Symbol.dispose]: () => database.close(),
  };
}
