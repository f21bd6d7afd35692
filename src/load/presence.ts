/**
 * Which processes use a home now, and what they use. Each runtime that loads skills holds a lock, which the kernel
 * releases however the process ends. Whatever a runtime uses gets a new timestamp, so anything with an older timestamp
 * than every running runtime is in use by none of them.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from './file-lock.ts';

const SUFFIX = '.lock';

function usersFolder(home: string): string {
  return join(home, 'users');
}

/** Holds the lock of one runtime; undefined if the home is read-only, where nothing can be pruned either. */
export function enterHome(home: string): FileLock | undefined {
  try {
    const folder = usersFolder(home);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return FileLock.create(join(folder, `${randomBytes(8).toString('hex')}${SUFFIX}`));
  } catch {
    return undefined;
  }
}

/** When the running users of a home started, except the one with this lock. Removes the files of those that ended. */
export function otherUsers(home: string, own: FileLock | undefined): number[] {
  const folder = usersFolder(home);
  return namesIn(folder).flatMap((name) => {
    const file = join(folder, name);
    if (file === own?.path) return [];
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return [];
    if (FileLock.isHeld(file)) return [stat.birthtimeMs || stat.mtimeMs];
    // A file this young may be about to be locked.
    if (Date.now() - stat.mtimeMs > 60_000) rmSync(file, { force: true });
    return [];
  });
}

/** Marks a file or folder as used now. */
export function markUsed(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // It belongs to another user, whose own runtimes mark it.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  } catch {
    return [];
  }
}
