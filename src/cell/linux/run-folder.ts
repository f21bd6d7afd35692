/**
 * Folders for sockets that live as long as a process of ours. Folders of dead runtimes, whose lock is free, are removed.
 * A lock works where a pid does not: for a runtime in another pid namespace that shares the home.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../../load/file-lock.ts';

/** Newer folders are not checked, because each check takes time and every call may add some. */
const OLD_MS = 60_000;
const LOCK = '.lock';

export class RunFolder {
  readonly path: string;
  readonly #lock: FileLock;

  constructor(path: string, lock: FileLock) {
    this.path = path;
    this.#lock = lock;
  }

  remove(): void {
    try {
      rmSync(this.path, { recursive: true, force: true });
    } finally {
      // Without its lock, a folder that could not be removed now is swept later.
      this.#lock.remove();
    }
  }
}

/** Creates a folder that others may traverse if they know its name, but not list. */
export function makeRunFolder(home: string, oldMs: number = OLD_MS): RunFolder {
  const parent = join(home, 'run');
  mkdirSync(parent, { recursive: true, mode: 0o711 });
  sweep(parent, oldMs);
  const path = join(parent, randomBytes(8).toString('hex'));
  const lock = FileLock.create(`${path}${LOCK}`);
  // New locks are never swept, so this means that descriptors ran out.
  if (!lock) throw new Error(`Could not take the lock of "${path}"`);
  try {
    mkdirSync(path, { mode: 0o711 });
    return new RunFolder(path, lock);
  } catch (error) {
    // The disk may be full. Every try would keep a descriptor.
    lock.remove();
    throw error;
  }
}

/** Removes folders of runtimes that died without cleaning up. */
function sweep(parent: string, oldMs: number): void {
  const ids = new Set(readdirSync(parent).map((name) => name.replace(LOCK, '')));
  for (const id of ids) {
    const path = join(parent, id);
    if (!isOld(path, oldMs) || FileLock.isHeld(`${path}${LOCK}`)) continue;
    rmSync(path, { recursive: true, force: true });
    rmSync(`${path}${LOCK}`, { force: true });
  }
}

function isOld(path: string, oldMs: number): boolean {
  const made = statSync(existsSync(path) ? path : `${path}${LOCK}`, { throwIfNoEntry: false });
  return made !== undefined && made.ctimeMs <= Date.now() - oldMs;
}
