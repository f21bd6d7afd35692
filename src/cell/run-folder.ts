/**
 * Folders for sockets that live as long as a process of ours. Those of runtimes that died are swept away: whose lock beside
 * the folder nobody holds. A pid would say nothing about a runtime in another pid namespace that shares the home.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../load/file-lock.ts';

/** Younger ones are not looked at: asking for each costs time, and some come with every call. */
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
    rmSync(this.path, { recursive: true, force: true });
    this.#lock.remove();
  }
}

/** A new folder that others may pass through, if they know its name, but not list. */
export function makeRunFolder(home: string, oldMs: number = OLD_MS): RunFolder {
  const parent = join(home, 'run');
  mkdirSync(parent, { recursive: true, mode: 0o711 });
  sweep(parent, oldMs);
  const path = join(parent, randomBytes(8).toString('hex'));
  const lock = FileLock.create(`${path}${LOCK}`);
  // Nobody sweeps a lock that is new, so this is a lack of descriptors.
  if (!lock) throw new Error(`The lock of ${path} could not be taken`);
  mkdirSync(path, { mode: 0o711 });
  return new RunFolder(path, lock);
}

/** Removes the folders of runtimes that died before they could. */
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
