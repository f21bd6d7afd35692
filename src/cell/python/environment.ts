/**
 * Installed packages on disk, with the record of what they are. A folder that is not as it was recorded is not used.
 *
 *     <environment>/packages/     what a cell sees
 *                  /record.json   the wheels, and the digest of the folder that they were unpacked into
 *                  /verified      how the files looked to `stat` when their contents were last compared
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { PinnedPackage, PinnedPackages } from '../../load/pins.ts';

const RECORD_FILE = 'record.json';
const VERIFIED_FILE = 'verified';
/** What is hashed in one go; longer files are read piece by piece, so that the event loop goes on. */
const SMALL_BYTES = 256 * 1024;
/** A file that was changed this shortly before it was looked at could change once more and keep its times. */
const SETTLED_MS = 2000;

interface Record {
  version: 1;
  packages: PinnedPackage[];
  /** Over the contents of `packages/`. */
  files: string;
}

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const word = z.string().regex(/^[\w.+!-]{1,200}$/);
const recordSchema: z.ZodType<Record> = z.strictObject({
  version: z.literal(1),
  packages: z.array(z.strictObject({ name: word, version: word, sha256: hex })).max(10_000),
  files: hex,
});

export function packagesFolder(environment: string): string {
  return join(environment, 'packages');
}

/** Says what is in a new environment. Its packages do not change after this. */
export async function recordEnvironment(
  environment: string,
  packages: readonly PinnedPackage[],
): Promise<void> {
  const sorted = packages.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const record: Record = { version: 1, packages: sorted, files: await digestOfContents(environment) };
  await writeFile(join(environment, RECORD_FILE), `${JSON.stringify(record, null, 2)}\n`);
}

/** What was installed; undefined when there is no environment, or one that nobody recorded. */
export function recordedPackages(environment: string): PinnedPackages | undefined {
  const record = readRecord(environment);
  if (!record) return undefined;
  const list = record.packages.map(({ name, version, sha256 }) => [name, version, sha256]);
  const digest = createHash('sha256').update(JSON.stringify(list)).digest('hex');
  return { digest: `sha256:${digest}`, packages: record.packages };
}

/** Whether the packages are what was recorded. Contents are read once for as long as no file is touched. */
export async function isAsRecorded(environment: string): Promise<boolean> {
  const record = readRecord(environment);
  if (!record) return false;
  const looks = lookOf(environment);
  if (looks === undefined) return false;
  const expected = `${record.files} ${looks.digest}`;
  const verified = join(environment, VERIFIED_FILE);
  if ((await readFile(verified, 'utf8').catch(() => '')) === expected) return true;
  const contents = await digestOfContents(environment).catch(() => 'they cannot be read');
  if (contents !== record.files) return false;
  if (Date.now() - looks.changedAt > SETTLED_MS) await keep(verified, expected);
  return true;
}

/** Makes room for a new environment: one that is whole stays, and true is returned. */
export async function isWholeOrGone(environment: string): Promise<boolean> {
  if (await isAsRecorded(environment)) return true;
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

/** Saves time alone, so a home that cannot be written does without it. */
async function keep(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, text);
    await rename(draft, file);
  } catch {
    rmSync(draft, { force: true });
  }
}

/** Paths of everything in the packages, sorted. */
function pathsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
}

/** Sizes, inodes and times: the kernel sets the time of a change, and nobody can set it back. */
function lookOf(environment: string): { digest: string; changedAt: number } | undefined {
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
