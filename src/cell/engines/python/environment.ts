/**
 * Installed packages on disk, with a record of their contents. A folder that does not match its record is not used.
 *
 *     <environment>/packages/     mounted into cells
 *                  /record.json   the wheels, and the digest of the folder after unpacking
 *                  /verified      `stat` fingerprint of the files when their contents were last verified
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { pinnedPackages } from '../../../load/locked-packages.ts';
import type { PinnedPackage, PinnedPackages } from '../../../load/pins.ts';
import { publish } from '../../../load/publish.ts';

const RECORD_FILE = 'record.json';
const VERIFIED_FILE = 'verified';
/** Files up to this size are hashed at once; larger ones in chunks, so that the event loop is not blocked. */
const SMALL_BYTES = 256 * 1024;
/** A file that changed less than this before the check could change again without a new timestamp. */
const SETTLED_MS = 2000;

interface Record {
  version: 1;
  packages: PinnedPackage[];
  /** Digest over the contents of `packages/`. */
  files: string;
}

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const word = z.string().regex(/^[\w.+!-]{1,200}$/);
const name = z.string().regex(/^(?:@[\w.~-]{1,100}\/)?[\w.~+!-]{1,200}$/);
const recordSchema: z.ZodType<Record> = z.strictObject({
  version: z.literal(1),
  packages: z.array(z.strictObject({ name, version: word, sha256: hex })).max(10_000),
  files: hex,
});

export function packagesFolder(environment: string): string {
  return join(environment, 'packages');
}

/** Records the contents of a new environment. Its packages do not change after this. */
export async function recordEnvironment(
  environment: string,
  packages: readonly PinnedPackage[],
): Promise<void> {
  const { packages: sorted } = pinnedPackages(packages);
  const record: Record = { version: 1, packages: sorted, files: await digestOfContents(environment) };
  await writeFile(join(environment, RECORD_FILE), `${JSON.stringify(record, null, 2)}\n`);
}

/** The installed packages; undefined if there is no environment or it has no record. */
export function recordedPackages(environment: string): PinnedPackages | undefined {
  const record = readRecord(environment);
  return record && pinnedPackages(record.packages);
}

/** Whether the packages match their record. Contents are only read again after a file was touched. */
export async function matchesRecord(environment: string): Promise<boolean> {
  const record = readRecord(environment);
  if (!record) return false;
  const fingerprint = statFingerprint(environment);
  if (fingerprint === undefined) return false;
  const expected = `${record.files} ${fingerprint.digest}`;
  const verified = join(environment, VERIFIED_FILE);
  if ((await readFile(verified, 'utf8').catch(() => '')) === expected) return true;
  const contents = await digestOfContents(environment).catch(() => 'they cannot be read');
  if (contents !== record.files) return false;
  if (Date.now() - fingerprint.changedAt > SETTLED_MS) await saveVerified(verified, expected);
  return true;
}

/** Returns true if the environment matches its record; otherwise removes it to make room for a new one. */
export async function keepIfIntact(environment: string): Promise<boolean> {
  if (await matchesRecord(environment)) return true;
  const aside = `${environment}.${randomBytes(6).toString('hex')}`;
  await rename(environment, aside).catch(() => 'there is none');
  rmSync(aside, { recursive: true, force: true });
  return false;
}

function readRecord(environment: string): Record | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(readFileSync(join(environment, RECORD_FILE), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** An optimization only, so a read-only home does without it. */
async function saveVerified(file: string, text: string): Promise<void> {
  await publish(file, (draft) => writeFile(draft, text)).catch(() => 'not kept');
}

/** Paths of everything in the packages, sorted. */
function pathsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
}

/** Covers sizes, inodes and times. The kernel sets ctime, and programs cannot reset it. */
function statFingerprint(environment: string): { digest: string; changedAt: number } | undefined {
  const folder = packagesFolder(environment);
  try {
    const hash = createHash('sha256');
    let changedAt = 0;
    for (const path of ['', ...pathsIn(folder)]) {
      const { ino, size, mode, mtimeMs, ctimeMs } = lstatSync(join(folder, path));
      hash.update(JSON.stringify([path, ino, size, mode, mtimeMs, ctimeMs]));
      changedAt = Math.max(changedAt, ctimeMs);
    }
    return { digest: hash.digest('hex'), changedAt };
  } catch {
    return undefined;
  }
}

async function digestOfContents(environment: string): Promise<string> {
  const folder = packagesFolder(environment);
  const hash = createHash('sha256');
  for (const path of pathsIn(folder)) {
    const full = join(folder, path);
    const stat = lstatSync(full);
    if (stat.isDirectory()) hash.update(JSON.stringify(['folder', path]));
    else if (stat.isSymbolicLink()) hash.update(JSON.stringify(['link', path, readlinkSync(full)]));
    else if (stat.isFile()) hash.update(JSON.stringify(['file', path, await sha256Of(full, stat.size)]));
    else hash.update(JSON.stringify(['other', path]));
  }
  return hash.digest('hex');
}

export async function sha256Of(file: string, size: number): Promise<string> {
  const hash = createHash('sha256');
  if (size <= SMALL_BYTES) return hash.update(await readFile(file)).digest('hex');
  for await (const chunk of createReadStream(file, { highWaterMark: SMALL_BYTES }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}
