/**
 * The fetched skills of a home: `fetched/<key>/<category>/<name>`, where the key covers the bundle, its lock and its
 * signatures. A copy is read-only, and whoever reads it compares it with its key, so a changed copy never loads.
 *
 * @module
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join, relative } from 'node:path';
import { SkillError } from '../errors.ts';
import { sha256 } from './digest.ts';
import { markUsed } from './presence.ts';
import type { BundleFiles } from './read-bundle.ts';
import { realOrGiven } from './registries.ts';
import { removeTreeSync } from './remove-tree.ts';
import type { SkillPin } from './skills-lock.ts';

const KEY = /^[0-9a-f]{64}$/;

/** The digests of everything that a source delivered. */
export type FetchedDigests = Pick<SkillPin, 'digest' | 'lock' | 'signature'>;

export function fetchedDir(home: string): string {
  return join(home, 'fetched');
}

/** Names the copy of exactly these bytes. */
export function fetchedKey({ digest, lock = '', signature = '' }: FetchedDigests): string {
  return sha256(`skillcell fetched v1\n${digest}\n${lock}\n${signature}\n`);
}

/** Where the copy of a pinned skill is, if it is here. */
export function fetchedFolder(home: string, id: string, pin: FetchedDigests): string {
  return join(fetchedDir(home), fetchedKey(pin), id);
}

export function digestsOf({ digest, lock, signature }: Pick<BundleFiles, 'digest' | 'lock' | 'signature'>): {
  digest: string;
  lock?: string;
  signature?: string;
} {
  return {
    digest,
    ...(lock === undefined ? {} : { lock: `sha256:${sha256(lock)}` }),
    ...(signature === undefined ? {} : { signature: `sha256:${sha256(signature)}` }),
  };
}

/** The key of a folder below `fetched/`; undefined for every other folder, and for a draft. Expects a real path. */
export function keyOfFolder(home: string, dir: string): string | undefined {
  const [key = '', ...id] = relative(realOrGiven(fetchedDir(home)), dir).split('/');
  return KEY.test(key) && id.length === 2 ? key : undefined;
}

/** Throws `manifest_drift` if the folder is a fetched copy and these are not its bytes. Marks it as used. */
export function assertFetched(home: string, dir: string, read: Parameters<typeof digestsOf>[0]): void {
  const key = keyOfFolder(home, dir);
  if (key === undefined) return;
  const root = join(realOrGiven(fetchedDir(home)), key);
  if (fetchedKey(digestsOf(read)) === key) return markUsed(root);
  throw new SkillError(
    'manifest_drift',
    `The fetched copy in ${JSON.stringify(dir)} has changed since it was fetched`,
    {
      fix: 'Fetch it again: skillcell install --frozen, or skillcell install --frozen --global if you added it with --global.',
      detail: { dir, digest: read.digest },
    },
  );
}

/** Moves a draft, which holds `<category>/<name>`, into place; keeps a copy that is already there. Returns its folder. */
export function keepFetched(home: string, draft: string, { id, key }: { id: string; key: string }): string {
  const target = join(fetchedDir(home), key);
  if (!existsSync(join(target, id))) {
    if (existsSync(target)) removeTreeSync(target);
    makeReadOnly(draft);
    // A folder that may not be written to cannot be moved.
    chmodSync(draft, 0o700);
    moveUnlessThere(draft, target);
    chmodSync(target, 0o500);
  }
  markUsed(target);
  return join(target, id);
}

/** Two processes may fetch the same bytes: the second one keeps the copy of the first. */
function moveUnlessThere(draft: string, target: string): void {
  try {
    renameSync(draft, target);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['ENOTEMPTY', 'EEXIST'].includes(code)) throw error;
    removeTreeSync(draft);
  }
}

function makeReadOnly(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadOnly(path);
    else chmodSync(path, 0o400);
  }
  chmodSync(folder, 0o500);
}

/** The root of fetched skills: only its owner may look into it, because cells use the staged copies. */
export function makeFetchedDir(home: string): string {
  const folder = fetchedDir(home);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (lstatSync(folder).isSymbolicLink())
    throw new SkillError('usage', `The folder ${JSON.stringify(folder)} is a symbolic link`, {
      fix: 'Replace it with a folder of your own, or remove it.',
    });
  return folder;
}
