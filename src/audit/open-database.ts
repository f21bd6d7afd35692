/**
 * Opens the SQLite file of the audit log: private to its owner, shared safely between processes, and with a known schema
 * version.
 *
 * @module
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SkillError } from '../errors.ts';
import { cannotWrite, isTransient } from './cannot-write.ts';

const SCHEMA_VERSION = 1;
const SQLITE_BUSY = 5;
/** Checkpoint after 16 MiB of write-ahead log: it waits for the disk, so only one call in thousands should pay for it. */
const CHECKPOINT_PAGES = 4096;

/**
 * SQLite computes the other columns from `body`, so that they can be queried and always agree with the hashed text.
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

/** The caller up to its last colon: `http:acme:` of `http:acme:laptop`. */
export const CALLER_PREFIX = `rtrim(body ->> '$.caller', replace(body ->> '$.caller', ':', ''))`;

/** The call that began the tree; absent for calls that no other call made. */
export const ROOT = `body ->> '$.root'`;

/** Added to logs of earlier versions when they are opened for writing. */
const INDEXES = `
  CREATE INDEX IF NOT EXISTS receipt_caller ON receipt (${CALLER_PREFIX});
  CREATE INDEX IF NOT EXISTS receipt_root ON receipt (${ROOT}) WHERE ${ROOT} IS NOT NULL;
`;

/** Opens the file and creates it if it is missing. Throws `usage` if it is not an audit log. */
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
    throw isTransient(cause) ? cannotWrite(cause) : cannotOpen(file, cause);
  }
}

/** Opens an existing log without creating or changing any file. */
export function openToRead(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  // Without a write-ahead log there is no writer, and SQLite would create one just to read.
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

/** Never opens an existing file: closing it would drop the locks that SQLite holds in this process. */
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
  // Take the write lock first: two processes that start together must not both create the tables.
  database.exec('BEGIN IMMEDIATE');
  const version = versionOf(database);
  if (version === 0) database.exec(SCHEMA);
  if (version <= SCHEMA_VERSION) database.exec(INDEXES);
  database.exec('COMMIT');
  assertVersion(version);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}

function assertVersion(version: number): void {
  if (version > SCHEMA_VERSION)
    throw new Error(
      `it has schema version ${version}, but this version of Skillcell reads ${SCHEMA_VERSION}`,
    );
}

/** Readers never block a writer. Durable against a crash of the process; a power failure may lose the last calls. */
function useWriteAheadLog(database: DatabaseSync, busyTimeoutMs: number): void {
  const mode = retryWhileBusy(
    () => database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'],
    busyTimeoutMs,
  );
  if (mode !== 'wal')
    throw new Error(`SQLite cannot use a write-ahead log there (journal mode "${String(mode)}")`);
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

/** SQLite's busy timeout does not cover two processes that switch to the write-ahead log at the same time. */
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
    fix: 'Make the folder writable, move the file elsewhere, or set SKILLCELL_HOME to a folder that you own.',
    detail: { file },
    cause,
  });
}
