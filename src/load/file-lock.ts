/**
 * A lock on a file that ends with its process, however it ends: the kernel keeps it. Pids say nothing to a process in
 * another pid namespace, and two containers may share one home. Node has no call for file locks; SQLite has one, so the
 * file is an empty database that is never written. Nobody else may open it: closing any descriptor of it in the process
 * that holds it would let it go.
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

  /** Makes a file under a name that nobody used, and locks it; undefined if a sweeper was faster. */
  static create(path: string): FileLock | undefined {
    closeSync(openSync(path, 'wx', 0o600));
    const lock = FileLock.claim(path);
    if (lock && existsSync(path)) return lock;
    lock?.[Symbol.dispose]();
    return undefined;
  }

  /** Locks a file that is there; undefined while anybody holds it, and when it is gone. */
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

  /** Whether a living process holds it. Needs no right to write. */
  static isHeld(path: string): boolean {
    const look = (): boolean => {
      using database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
      database.prepare('SELECT 1 FROM sqlite_master').get();
      return false;
    };
    return attempt(look, (code) => code === SQLITE_BUSY);
  }

  /** Removes the file before the lock is let go: nobody finds it free while what it guards is still there. */
  remove(): void {
    rmSync(this.path, { force: true });
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** `otherwise` says what it means that somebody holds the file, or that there is none; other errors are thrown. */
function attempt<T>(action: () => T, otherwise: (code: number) => T): T {
  try {
    return action();
  } catch (error) {
    // The low byte is the kind, the rest says more about it.
    const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
    if (code === SQLITE_BUSY || code === SQLITE_CANTOPEN) return otherwise(code);
    throw error;
  }
}
