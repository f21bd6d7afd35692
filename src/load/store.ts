/**
 * The content-addressed store: read-only, verified copies of bundles under `home/store/<digest>/`.
 * A jailed user can traverse it but not list it. Safe for concurrent use by several processes.
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
  openSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import type { Kind } from '../vocabulary/kinds.ts';
import { markUsed } from './presence.ts';
import { publishSync } from './publish.ts';
import { readEverything } from './read-bundle.ts';
import type { BundleFiles } from './read-bundle.ts';
import { removeTreeSync } from './remove-tree.ts';

export interface StoreOptions {
  /** Skillcell's own folder; created if missing. */
  home: string;
  /** Group of the jailed users. Used only by root: no other user can then traverse the folder. */
  groupId?: number;
}

/** What is stored, and the kind of the skill if it is known. */
export type StagedFiles = Pick<BundleFiles, 'contents' | 'digest'> & { kind?: Kind };

export interface Store {
  readonly home: string;
  /** The options it was created with; a worker thread creates its own store from them. */
  readonly options: StoreOptions;
  /** Stores the bundle unless an intact copy exists, and returns the folder. */
  stage(bundle: StagedFiles): string;
}

/** Attempts to put a copy in place; if all fail, something keeps destroying it. */
const ATTEMPTS = 8;

const READ_ONLY_MODES = { file: 0o444, folder: 0o555 };
/** Scripts copy templates with their mode and then edit the copy. Cells mount the store read-only, so it is safe there. */
const COPIED_MODES = { file: 0o644, folder: 0o755 };

export function createStore(options: StoreOptions): Store {
  const home = resolve(options.home);
  const root = join(home, 'store');
  try {
    mkdirSync(dirname(home), { recursive: true });
    // A shared home keeps its mode, because it may also serve another purpose.
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
      if (hasOtherUsers) requireTraversable(home);
      return stage(root, bundle);
    },
  };
}

const OTHER_HOME =
  'Set SKILLCELL_HOME to a folder that you own and no one else can write to, or to one that does not exist yet.';
/** The namespace does not map the group, so no other folder would work either. */
const LEAVE_NAMESPACE =
  'Run Skillcell outside this user namespace, as the user who created it, or map more ids into the namespace.';

/** Explains why the system does not let us use this home. */
function unusable(home: string, error: unknown): SkillError {
  const code = errorCode(error);
  const reasons: Record<string, string> = {
    EROFS: 'its file system is read-only',
    EACCES: 'this user cannot write there',
    EPERM: 'this user cannot change its owner or mode',
    EINVAL: 'this user namespace does not map the group of the cells',
    ENOSPC: 'its file system is full',
  };
  const options = { cause: error, ...(code === 'EINVAL' ? { fix: LEAVE_NAMESPACE } : {}) };
  return homeError(home, `${reasons[code] ?? 'it cannot be prepared'} (${code})`, options);
}

/** Cells of a root host do not run as root, so every folder above the home must let them traverse it. */
function requireTraversable(home: string): void {
  for (let folder = dirname(home); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o011) !== 0) continue;
    throw homeError(home, `cells run as another user, who cannot traverse ${JSON.stringify(folder)}`);
  }
}

/** Returns true if the folder was created, false if it existed. */
function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw homeError(folder, `it cannot be created (${errorCode(error)})`, { cause: error });
  }
}

/** True if only its owner has access, so that opening it to cells affects no other user. */
function isPrivate(folder: string): boolean {
  const stat = lstatSync(folder);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}

/** Lets cells traverse the folder to a copy whose name they know, but not list it. */
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
  if (!stat.isDirectory()) throw homeError(folder, 'it is not a folder');
  if (stat.uid !== process.getuid?.()) throw homeError(folder, `it belongs to user ${stat.uid}`);
  if ((stat.mode & 0o022) !== 0) throw homeError(folder, 'other users can write to it');
}

function stage(root: string, bundle: StagedFiles): string {
  const target = join(root, bundle.digest.replace(/^sha256:/, ''));
  if (isIntact(target, bundle.digest)) {
    markUsed(target);
    return target;
  }
  publishSync(target, (copy) => writeCopy(copy, bundle), {
    hideIn: root,
    place: (copy) => putInPlace(copy, target, bundle.digest),
  });
  return target;
}

function isIntact(target: string, digest: string): boolean {
  try {
    return readEverything(target).digest === digest;
  } catch {
    // Missing, being replaced or unreadable: in each case it must be rebuilt.
    return false;
  }
}

/** Two processes may do this at the same time: the second one finds an intact copy and keeps it. */
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
  removeTreeSync(aside);
}

function writeCopy(copy: string, { contents, kind }: StagedFiles): void {
  const modes = kind === 'script' ? COPIED_MODES : READ_ONLY_MODES;
  const folders = new Set<string>();
  for (const path of contents.keys()) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  // Sorted, a folder precedes its contents: folders are created in this order and get their mode in reverse.
  const topDown = [...folders].sort();
  mkdirSync(copy, { mode: 0o700 });
  for (const folder of topDown) mkdirSync(join(copy, folder), { mode: 0o700 });
  for (const [path, bytes] of contents) writeNew(join(copy, path), bytes, modes.file);
  for (const folder of topDown.reverse()) chmodSync(join(copy, folder), modes.folder);
  chmodSync(copy, modes.folder);
}

function writeNew(path: string, bytes: Buffer, mode: number): void {
  const fd = openSync(path, 'wx', 0o400);
  try {
    writeFileSync(fd, bytes);
    // Set explicitly, because the umask was applied to the mode above.
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

function homeError(
  folder: string,
  reason: string,
  { cause, fix = OTHER_HOME }: { cause?: unknown; fix?: string } = {},
): SkillError {
  return new SkillError(
    'usage',
    `The Skillcell folder ${JSON.stringify(folder)} cannot be used: ${reason}.`,
    {
      fix,
      detail: { folder, reason },
      cause,
    },
  );
}
