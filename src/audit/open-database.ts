/**
 * Opens the SQLite file of the audit log: private to its owner, shared safely between processes,
 * and of a schema version that we know.
 *
 * @module
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SkillError } from '../errors.ts';
import { cannotWrite, isPassing } from './cannot-write.ts';

const SCHEMA_VERSION = 1;
const SQLITE_BUSY = 5;
/** 16 MiB of write-ahead log before it is brought into the file, which waits for the disk: a call in thousands has to. */
const CHECKPOINT_PAGES = 4096;

/**
 * Columns besides `body` are computed from it by SQLite, so they can be queried and cannot disagree with
 * the text that is hashed.
 */
const SCHEMA = `
  CREATE TABLE receipt (
    seq INTEGER PRIMARY KEY,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    call_id TEXT GENERATED ALWAYS AS (body ->> '$.call_id'),
    skill TEXT GENERATED ALWAYS AS (body ->> '$.skill.name'),
    code TEXT GENERATED ALWAYS AS (body ->> '$.code'),
    limit_hit TEXT GENERATED ALWAYS AS (body ->> '$.limit'),
    denied_count INTEGER GENERATED ALWAYS AS (body ->> '$.denied_count')
  ) STRICT;
  CREATE INDEX receipt_call_id ON receipt (call_id);
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Opens the file, making it when it is missing. Throws `usage` when it is no audit log of ours. */
export function openDatabase(file: string, busyTimeoutMs: number): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    makePrivateFile(file);
    database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    prepareSchema(database);
    useWriteAheadLog(database, busyTimeoutMs);
    return database;
  } catch (cause) {
    database?.close();
    throw isPassing(cause) ? cannotWrite(cause) : cannotOpen(file, cause);
  }
}

/** Opens a log that is there, without making or changing any file. */
export function openToRead(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  // Without a write-ahead log nobody writes, and SQLite would make one to look into it.
  if (existsSync(`${file}-wal`)) url.searchParams.set('mode', 'ro');
  else url.searchParams.set('immutable', '1');
  try {
    const database = new DatabaseSync(url, { readOnly: true });
    assertVersion(versionOf(database));
    return database;
  } catch (cause) {
    throw cannotOpen(file, cause);
  }
}

/** Never opens an existing file: closing it again would drop the locks that SQLite holds in this process. */
function makePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
}

function prepareSchema(database: DatabaseSync): void {
  // The write lock comes first: two processes that start together must not both make the tables.
  database.exec('BEGIN IMMEDIATE');
  const version = versionOf(database);
  if (version === 0) database.exec(SCHEMA);
  database.exec('COMMIT');
  assertVersion(version);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}

function assertVersion(version: number): void {
  if (version > SCHEMA_VERSION)
    throw new Error(`it has schema version ${version}, this version reads ${SCHEMA_VERSION}`);
}

/** Readers never block a writer this way. Durable against a crash of the process; a power cut may lose the last calls. */
function useWriteAheadLog(database: DatabaseSync, busyTimeoutMs: number): void {
  const mode = retryWhileBusy(
    () => database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'],
    busyTimeoutMs,
  );
  if (mode !== 'wal')
    throw new Error(`SQLite cannot keep a write-ahead log there (journal mode "${String(mode)}")`);
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

/** SQLite's own busy timeout does not cover the switch to the write-ahead log by two processes at once. */
function retryWhileBusy<T>(action: () => T, timeoutMs: number): T {
  const pauseMs = 5;
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return action();
    } catch (error) {
      const busy = (error as { errcode?: number }).errcode === SQLITE_BUSY;
      if (!busy || waitedMs >= timeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}

function cannotOpen(file: string, cause: unknown): SkillError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new SkillError('usage', `Cannot open the audit log "${file}": ${message}`, {
    fix: 'Make the folder writable or move the file away, or set SKILLCELL_HOME to a folder of your own.',
    detail: { file },
    cause,
  });
}
