/**
 * The content-addressed store: verified copies of bundles under `home/store/<digest>/`, read-only,
 * which a jailed user can reach but not list. Safe for any number of processes at once.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { readEverything } from './read-bundle.ts';
import type { BundleFiles } from './read-bundle.ts';

export interface StoreOptions {
  /** Skillcell's own folder; created when missing. */
  home: string;
  /** Group of the jailed users. Only used when we are root: then nobody else can even pass through. */
  groupId?: number;
}

export interface Store {
  readonly home: string;
  /** What it was made with; a worker thread makes its own from it. */
  readonly options: StoreOptions;
  /** Puts the bundle into the store unless its verified copy is there, and returns the folder. */
  stage(bundle: Pick<BundleFiles, 'contents' | 'digest'>): string;
}

/** Attempts to put a copy in place; more than a few mean that something keeps destroying it. */
const ATTEMPTS = 8;

export function createStore(options: StoreOptions): Store {
  const home = resolve(options.home);
  const root = join(home, 'store');
  try {
    mkdirSync(dirname(home), { recursive: true });
    // A home that others use keeps its mode: it may be a folder with a purpose besides ours.
    if (makeFolder(home) || isPrivate(home)) openToJail(home, options.groupId);
    requireOwnFolder(home);
    makeFolder(root);
    requireOwnFolder(root);
    openToJail(root, options.groupId);
  } catch (error) {
    throw error instanceof SkillError ? error : unusable(home, error);
  }
  const hasOtherUsers = process.getuid?.() === 0 && options.groupId !== undefined;
  return {
    home,
    options: { ...options, home },
    stage: (bundle) => {
      if (hasOtherUsers) requireWayIn(home);
      return stage(root, bundle);
    },
  };
}

/** What the system says about a home that it does not let us use. */
function unusable(home: string, error: unknown): SkillError {
  const code = errorCode(error);
  const reasons: Record<string, string> = {
    EROFS: 'its file system is read-only',
    EACCES: 'this user may not write there',
    EPERM: 'this user may not change its owner or mode',
    EINVAL: 'this user namespace does not map the group of the cells',
    ENOSPC: 'its file system is full',
  };
  return homeError(home, `${reasons[code] ?? 'it cannot be prepared'} (${code})`, error);
}

/** Cells of a root host are not root: what lies above the home must let them pass. */
function requireWayIn(home: string): void {
  for (let folder = dirname(home); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o011) !== 0) continue;
    throw homeError(home, `cells run as another user, who may not pass through ${JSON.stringify(folder)}`);
  }
}

/** True when the folder was made now. */
function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw homeError(folder, `it cannot be created (${errorCode(error)})`, error);
  }
}

/** True when nobody but its owner has any right on it, so that letting cells pass takes nothing from anybody. */
function isPrivate(folder: string): boolean {
  const stat = lstatSync(folder);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}

/** Others may pass through to a copy whose name they were told, and list nothing. */
function openToJail(folder: string, groupId: number | undefined): void {
  const asRoot = process.getuid?.() === 0;
  if (asRoot && groupId !== undefined) {
    chownSync(folder, 0, groupId);
    chmodSync(folder, 0o710);
  } else {
    chmodSync(folder, 0o711);
  }
}

function requireOwnFolder(folder: string): void {
  const stat = lstatSync(folder);
  if (stat.isSymbolicLink()) throw homeError(folder, 'it is a symbolic link');
  if (!stat.isDirectory()) throw homeError(folder, 'it is no folder');
  if (stat.uid !== process.getuid?.()) throw homeError(folder, `it belongs to user ${stat.uid}`);
  if ((stat.mode & 0o022) !== 0) throw homeError(folder, 'others may write to it');
}

function stage(root: string, bundle: Pick<BundleFiles, 'contents' | 'digest'>): string {
  const target = join(root, bundle.digest.replace(/^sha256:/, ''));
  if (isIntact(target, bundle.digest)) return target;
  const copy = mkdtempSync(join(root, '.new-'));
  try {
    writeCopy(copy, bundle.contents);
    putInPlace(copy, target, bundle.digest);
    return target;
  } finally {
    removeTree(copy);
  }
}

function isIntact(target: string, digest: string): boolean {
  try {
    return readEverything(target).digest === digest;
  } catch {
    // Missing, being replaced, or made unreadable: in each case it has to be built anew.
    return false;
  }
}

/** Two processes may do this at the same time: whoever comes second finds an intact copy and keeps it. */
function putInPlace(copy: string, target: string, digest: string): void {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      renameSync(copy, target);
      return;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(error))) throw error;
    }
    if (isIntact(target, digest)) return;
    moveAway(target);
  }
  throw new SkillError(
    'internal',
    `The store entry ${JSON.stringify(target)} changes faster than it can be rebuilt.`,
    {
      fix: 'Find out which program writes to the store, or delete the entry.',
      detail: { target },
    },
  );
}

function moveAway(target: string): void {
  const aside = join(dirname(target), `.old-${randomBytes(8).toString('hex')}`);
  try {
    renameSync(target, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  removeTree(aside);
}

function writeCopy(copy: string, contents: ReadonlyMap<string, Buffer>): void {
  const folders = new Set<string>();
  for (const path of contents.keys()) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  // Sorted, a folder comes before what is in it: made in this order, closed in the opposite one.
  const topDown = [...folders].sort();
  for (const folder of topDown) mkdirSync(join(copy, folder), { mode: 0o700 });
  for (const [path, bytes] of contents) writeReadOnly(join(copy, path), bytes);
  for (const folder of topDown.reverse()) chmodSync(join(copy, folder), 0o555);
  chmodSync(copy, 0o555);
}

function writeReadOnly(path: string, bytes: Buffer): void {
  const fd = openSync(path, 'wx', 0o400);
  try {
    writeFileSync(fd, bytes);
    // Again by hand, because the umask took its share of the mode above.
    fchmodSync(fd, 0o444);
  } finally {
    closeSync(fd);
  }
}

/** Removes a read-only tree; without write permission on a folder only root could empty it. */
function removeTree(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) makeWritable(path);
  rmSync(path, { recursive: true, force: true });
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(folder, entry.name));
  }
}

function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

function homeError(folder: string, reason: string, cause?: unknown): SkillError {
  return new SkillError(
    'usage',
    `The Skillcell folder ${JSON.stringify(folder)} cannot be used: ${reason}.`,
    {
      fix: 'Set SKILLCELL_HOME to a folder of your own that nobody else can write to, or to one that does not exist yet.',
      detail: { folder, reason },
      cause,
    },
  );
}
