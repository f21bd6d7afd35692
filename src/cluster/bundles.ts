/**
 * Bundles that travel to workers by their digest. What arrives is written into a folder of its own and read again under all
 * rules of `readBundle`: origin `external`, nothing of the sender is believed.
 *
 * @module
 */
import { mkdirSync, readFileSync, renameSync, rmSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { MAX_LOCK_BYTES } from '../load/lock.ts';
import {
  BUNDLE_LIMITS,
  hashContents,
  LOCK_FILE,
  nameProblem,
  readEverything,
  SIGNATURE_FILE,
} from '../load/read-bundle.ts';
import { malformed, readFrame, writeFrame } from './frame.ts';
import { bundleName } from './stores.ts';

/** For the names of all files of the largest bundle. */
const MAX_HEAD = 4 * 1024 * 1024;
/** They describe a bundle, and are not part of its digest. */
const BESIDE: ReadonlySet<string> = new Set([LOCK_FILE, SIGNATURE_FILE]);

/** The bundle as one object. */
export function packBundle({ stagedDir, sourceDir, lock, vouched }: Bundle): Uint8Array {
  const contents = new Map(readEverything(stagedDir).contents);
  if (vouched) contents.set(LOCK_FILE, vouched.lock).set(SIGNATURE_FILE, vouched.signature);
  else if (lock === 'locked') contents.set(LOCK_FILE, readFileSync(join(sourceDir, LOCK_FILE)));
  const files = [...contents].map(([path, { length }]) => [path, length]);
  return writeFrame({ files }, Buffer.concat([...contents.values()]));
}

/** The files of an object, by their path. Throws for anything that cannot be a bundle. */
export function unpackBundle(bytes: Uint8Array): Map<string, Buffer> {
  const { head, body } = readFrame(bytes, MAX_HEAD);
  const files = new Map<string, Buffer>();
  let at = 0;
  const entries = entriesOf(head);
  assertSizes(entries);
  for (const { path, length } of entries) {
    if (files.has(path) || at + length > body.length) throw malformed('the files of a bundle do not fit');
    files.set(path, Buffer.from(body.subarray(at, (at += length))));
  }
  if (at !== body.length) throw malformed('a bundle has bytes of no file');
  for (const path of files.keys())
    if (foldersOf(path).some((folder) => files.has(folder)))
      throw malformed('a bundle has a file and a folder of the same name');
  return files;
}

/** The digest of the bundle that these files are, before any of them is written. */
export function digestOfFiles(files: ReadonlyMap<string, Buffer>): string {
  return hashContents(new Map([...files].filter(([path]) => !BESIDE.has(path)))).digest;
}

interface Entry {
  path: string;
  length: number;
}

function assertSizes(entries: readonly Entry[]): void {
  let total = 0;
  for (const { path, length } of entries) {
    if (BESIDE.has(path) ? length > MAX_LOCK_BYTES : (total += length) > BUNDLE_LIMITS.totalBytes)
      throw malformed('a bundle is too large');
  }
}

/** `a` and `a/b` of `a/b/c`. */
function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

function entriesOf(head: unknown): Entry[] {
  const { files } = (head ?? {}) as { files?: unknown };
  if (!Array.isArray(files) || files.length > BUNDLE_LIMITS.files + 2)
    throw malformed('a bundle has no list of files, or too many');
  return files.map((entry: unknown) => {
    const [path, length] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof path !== 'string' || !Number.isSafeInteger(length) || (length as number) < 0)
      throw malformed('an entry of a bundle is not a path and a size');
    assertPath(path);
    return { path, length: length as number };
  });
}

/** Before anything is written: a path must stay below its folder. */
function assertPath(path: string): void {
  const parts = path.split('/');
  const isPlain = parts.every(
    (part) =>
      part !== '' && part !== '.' && part !== '..' && nameProblem(Buffer.from(part), path) === undefined,
  );
  if (!isPlain || path.includes('\0') || parts.length > BUNDLE_LIMITS.depth)
    throw malformed('a bundle has a file with an unsafe path');
}

/** Writes the files into a new folder and moves it into place, so that no half of a bundle is ever there. */
export function writeBundle(target: string, files: ReadonlyMap<string, Buffer>): void {
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(draft, path)), { recursive: true, mode: 0o700 });
      writeFileSync(join(draft, path), bytes, { flag: 'wx' });
    }
    if (!existsSync(target)) renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The object of a bundle cannot be used. Nothing of it was written or run. */
export function badBundle(name: string, digest: string, cause: unknown): SkillError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SkillError('manifest_drift', `The cluster has no usable copy of "${name}": ${reason}`, {
    fix: `Delete the object ${bundleName(digest)} of the tenant's object store with the key of the administrator, and call the skill again after a minute.`,
    detail: { skill: name, wanted: digest },
    cause,
  });
}

export function otherDigest(name: string, wanted: string, found: string | undefined): SkillError {
  const here = found === undefined ? 'has no such skill' : `has ${found.slice(0, 19)}…`;
  return new SkillError(
    'manifest_drift',
    `The caller asked for "${name}" with the digest ${wanted.slice(0, 19)}…, and this worker ${here}`,
    {
      fix: 'Install the same version of the skill on the front end and on the workers.',
      detail: { skill: name, wanted, found: found ?? null },
    },
  );
}
