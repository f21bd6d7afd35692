/**
 * A file lock that the kernel releases when its process ends, however it ends. Pid files do not work here: pids mean
 * nothing in another pid namespace, and two containers may share one home. Node cannot lock files but SQLite can, so the
 * file is an empty database that is never written. Nothing else may open it: closing any of its descriptors in the
 * process that holds the lock would release it.
 *
 * @module
 */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

export class FileLock implements Disposable {
  readonly path: string;
  readonly #database: DatabaseSync;

  private constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.#database = database;
  }

  /** Creates a file under an unused name and locks it; undefined if a sweeper removed it first. */
  static create(path: string): FileLock | undefined {
    closeSync(openSync(path, 'wx', 0o600));
    const lock = FileLock.claim(path);
    if (lock && existsSync(path)) return lock;
    lock?.[Symbol.dispose]();
    return undefined;
  }

  /** Locks an existing file; undefined if it is locked already or is gone. */
  static claim(path: string): FileLock | undefined {
    const url = pathToFileURL(path);
    url.searchParams.set('mode', 'rw');
    const take = (): FileLock => {
      const database = new DatabaseSync(url, { timeout: 0 });
      try {
        // In memory: a rollback journal would be a second file, and nothing is ever written.
        database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
        return new FileLock(path, database);
      } catch (error) {
        database.close();
        throw error;
      }
    };
    return attempt(take, () => undefined);
  }

  /** Does a running process hold the lock? Needs no write permission. */
  static isHeld(path: string): boolean {
    const look = (): boolean => {
      using database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
      database.prepare('SELECT 1 FROM sqlite_master').get();
      return false;
    };
    return attempt(look, (code) => code === SQLITE_BUSY);
  }

  /** Removes the file before releasing the lock, so that no process sees it unlocked in between. */
  remove(): void {
    rmSync(this.path, { force: true });
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** Calls `otherwise` if the file is locked or missing; throws any other error. */
function attempt<T>(action: () => T, otherwise: (code: number) => T): T {
  try {
    return action();
  } catch (error) {
    // The low byte is the primary result code; the rest is the extended code.
    const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
    if (code === SQLITE_BUSY || code === SQLITE_CANTOPEN) return otherwise(code);
    throw error;
  }
}
