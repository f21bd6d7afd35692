/**
 * Removes what no skill uses any more from a home: staged copies, packages, prepared scripts and binaries, engines of
 * older versions, and leftovers of installations that were killed. Everything except packages is made again when needed.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, lstatSync, openSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../errors.ts';
import { bytesIn } from './bytes-in.ts';
import { FileLock } from './file-lock.ts';
import { otherUsers } from './presence.ts';
import { HIDDEN_DRAFT } from './publish.ts';
import { removeTreeSync } from './remove-tree.ts';

const DEFAULT_UNUSED_MS: number = 7 * 24 * 60 * 60 * 1000;
/** No installation runs this long. */
const LEFTOVER_MS = 24 * 60 * 60 * 1000;
const LEFTOVER = new RegExp(
  `^(?:${HIDDEN_DRAFT.replace('.', '\\.')}|\\.old-)|^making\\.|\\.wheels(?:\\.tmp|\\.txt)?$`,
);

/**
 * The folders of a home that can be pruned, and what they hold, for people. Receipts, approvals, policies and installed
 * skills never are. Every use of what is in these sets a new timestamp.
 */
const MARKED: Readonly<Record<string, string>> = {
  store: 'staged copies of skills',
  fetched: 'fetched skills',
  environments: 'packages',
  guest: 'code of cells',
};
/** What is in these is only removed if no other runtime uses the home. */
const UNMARKED: Readonly<Record<string, string>> = {
  wasm: 'prepared binaries',
  'js-wasm': 'prepared scripts',
  'python-wasm': 'Python engines',
  bytecode: 'compiled Python',
  inspected: 'findings of inspections',
  harness: 'Python harnesses',
  node: 'copies of Node',
  'images/rootfs': 'unpacked images',
  'images/archives': 'packed images',
};

/** Options of `Runtime.prune`. */
export interface PruneOptions {
  /** Only says what would be removed. */
  dryRun?: boolean | undefined;
  /** Removes what was not used for this many milliseconds; absent: a week. */
  unusedMs?: number | undefined;
}

/** One removed file or folder. */
export interface PrunedEntry {
  path: string;
  what: string;
  bytes: number;
}

/** What was removed, or would be. */
export interface Pruned {
  removed: PrunedEntry[];
  bytes: number;
  /** Other runtimes that use the home now; some kinds of entries are kept because of them. */
  users: number;
}

export interface PruneSource extends PruneOptions {
  home: string;
  own: FileLock | undefined;
  /** When this runtime started to mark what known skills use. */
  startedAt: number;
}

export function pruneHome(source: PruneSource): Pruned {
  const turn = takeTurn(source.home);
  try {
    return prune(source);
  } finally {
    turn[Symbol.dispose]();
  }
}

function prune({ home, own, startedAt, dryRun = false, unusedMs = DEFAULT_UNUSED_MS }: PruneSource): Pruned {
  const users = otherUsers(home, own);
  const now = Date.now();
  const before = Math.min(now - unusedMs, startedAt, ...users);
  const removed = Object.entries({ ...MARKED, ...UNMARKED }).flatMap(([place, what]) => {
    const isMarked = Object.hasOwn(MARKED, place);
    const folder = join(home, place);
    return namesIn(folder).flatMap((name): PrunedEntry[] => {
      const path = join(folder, name);
      const isLeftover = LEFTOVER.test(name);
      const unusedSince = isLeftover ? now - LEFTOVER_MS : before;
      const mayGo = isLeftover || isMarked || users.length === 0;
      if (!mayGo || lastUse(path) >= unusedSince) return [];
      const bytes = bytesIn(path);
      if (!dryRun && !remove(folder, path, unusedSince)) return [];
      return [{ path, what, bytes }];
    });
  });
  return { removed, bytes: removed.reduce((sum, entry) => sum + entry.bytes, 0), users: users.length };
}

/** Two prunes at once would count the same bytes. */
function takeTurn(home: string): FileLock {
  const file = join(home, 'prune.lock');
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const lock = FileLock.claim(file);
  if (lock) return lock;
  throw new SkillError('skill_unavailable', `Another process is pruning ${JSON.stringify(home)}`, {
    fix: 'Wait until it has finished.',
  });
}

/** Renamed first, so that other processes see the whole entry or none. Checked again, because one may have used it meanwhile. */
function remove(folder: string, path: string, unusedSince: number): boolean {
  try {
    const aside = join(folder, `.old-${randomBytes(8).toString('hex')}`);
    if (lastUse(path) >= unusedSince) return false;
    renameSync(path, aside);
    removeTreeSync(aside);
    return true;
  } catch {
    // Another process was faster, or it belongs to another user.
    return false;
  }
}

/** The newest timestamp of an entry and its direct children: engines get new images below. */
function lastUse(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return Number.POSITIVE_INFINITY;
  const inside = stat.isDirectory() ? namesIn(path) : [];
  const times = inside.map((name) => lstatSync(join(path, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(stat.mtimeMs, ...times.slice(0, 1000));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
