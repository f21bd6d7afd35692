/**
 * Reads a bundle folder exactly once and hashes while reading, so that the checked files are the ones that run.
 * Every step goes through an open directory (`/proc/self/fd/N/name`) and follows no link, so that swapping a
 * directory for a link during the read cannot escape the bundle.
 *
 * @module
 */
import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, readSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { SkillError } from '../errors.ts';
import { quote } from '../manifest/quote.ts';
import type { FileDigests } from './bundle.ts';
import { digestFiles, sha256 } from './digest.ts';
import { IGNORE_FILE, IGNORE_LIMITS, IgnoreRules, isKept } from './ignore.ts';

export const BUNDLE_LIMITS = {
  files: 2000,
  folders: 2000,
  totalBytes: 67_108_864,
  entries: 20_000,
  patterns: 200,
  depth: 16,
  nameBytes: 255,
  pathBytes: 1024,
} as const;

export interface ReadLimits {
  files: number;
  folders: number;
  totalBytes: number;
  /** Including ignored ones. */
  entries: number;
  patterns: number;
}

/** Limits for reading on the main thread: a few milliseconds of work. */
export const LIMITS_HERE: ReadLimits = {
  files: 200,
  folders: 200,
  totalBytes: 1024 * 1024,
  entries: 2000,
  patterns: 50,
};

export const LOCK_FILE = 'skill.lock';
export const SIGNATURE_FILE = 'skill.sig';

export interface BundleFiles {
  /** Bytes of every file by its path inside the bundle, without `skill.lock` and `skill.sig`. */
  contents: ReadonlyMap<string, Buffer>;
  files: FileDigests;
  digest: string;
  /** The lock, which describes the bundle and is therefore not part of it. */
  lock?: Buffer;
  /** Signatures of the lock. */
  signature?: Buffer;
  /** Paths of files and folders that do not belong to the bundle. */
  ignored: ReadonlySet<string>;
  /** About files that look like secrets, and about links. */
  warnings: readonly string[];
}

/** Reads a bundle from its author's folder. Refuses anything other than regular files and folders. */
export function readBundle(dir: string, limits: ReadLimits = BUNDLE_LIMITS): BundleFiles {
  const { contents, ignored, secrets, links } = readTree(dir, limits);
  const [link] = links;
  // Agents write links into such folders; only a manifest promises that the bundle is complete.
  const isAgentSkill = contents.has('SKILL.md') && !contents.has('manifest.yaml');
  if (link !== undefined && !isAgentSkill) throw refusal(link, 'a symbolic link');
  const lock = contents.get(LOCK_FILE);
  const signature = contents.get(SIGNATURE_FILE);
  contents.delete(LOCK_FILE);
  contents.delete(SIGNATURE_FILE);
  const warnings = [
    ...[...secrets].toSorted().map((path) => warnAboutSecret(path, contents.has(path))),
    ...[...links].toSorted().map(warnAboutLink),
  ];
  return {
    ...hashContents(contents),
    ...(lock ? { lock } : {}),
    ...(signature ? { signature } : {}),
    ignored,
    warnings: warnings.slice(0, MAX_WARNINGS),
  };
}

const MAX_WARNINGS = 10;

function warnAboutSecret(path: string, isIncluded: boolean): string {
  const file = `The file ${quote(path)} looks like a secret`;
  return isIncluded
    ? `${file} and is part of the bundle, because ${IGNORE_FILE} includes it: the skill and anyone who gets the bundle can read it.`
    : `${file} and was left out of the bundle. Move it to another folder, or list it in ${IGNORE_FILE}.`;
}

function warnAboutLink(path: string): string {
  return `The symbolic link ${quote(path)} was left out of the bundle, because links are not followed.`;
}

/** Reads a staged copy, in which every file counts: nothing is ignored. */
export function readEverything(dir: string): HashedFiles {
  return hashContents(readTree(dir, BUNDLE_LIMITS, 'everything').contents);
}

type HashedFiles = Pick<BundleFiles, 'contents' | 'files' | 'digest'>;

/** Digests of files that are in memory. */
export function hashContents(contents: ReadonlyMap<string, Buffer>): HashedFiles {
  const paths = [...contents.keys()].sort();
  const files = Object.fromEntries(paths.map((path) => [path, sha256(contents.get(path) ?? '')]));
  return { contents, files, digest: digestFiles(files) };
}

interface Walk {
  contents: Map<string, Buffer>;
  /** Undefined if nothing is ignored. */
  rules: IgnoreRules | undefined;
  ignored: Set<string>;
  secrets: Set<string>;
  /** Left out of folders without a manifest, refused in others. */
  links: Set<string>;
  limits: ReadLimits;
  bytes: number;
  folders: number;
  entries: number;
}

const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// Without O_NONBLOCK, opening a FIFO that replaced a file would block forever.
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function readTree(dir: string, limits: ReadLimits, what: 'bundle' | 'everything' = 'bundle'): Walk {
  const sets = {
    contents: new Map<string, Buffer>(),
    ignored: new Set<string>(),
    secrets: new Set<string>(),
    links: new Set<string>(),
  };
  const walk: Walk = { ...sets, rules: undefined, limits, bytes: 0, folders: 0, entries: 0 };
  const fd = openEntry(dir, OPEN_FOLDER, dir);
  try {
    if (what === 'bundle') walk.rules = readRules(walk, fd);
    readFolder(walk, fd, '');
  } finally {
    closeSync(fd);
  }
  return walk;
}

/** The rules are read first, and only once, so that the digest covers the rules that were applied. */
function readRules(walk: Walk, folderFd: number): IgnoreRules {
  const handle = `/proc/self/fd/${folderFd}/${IGNORE_FILE}`;
  const found = lstatSync(handle, { throwIfNoEntry: false });
  if (!found?.isFile()) return new IgnoreRules();
  if (found.size > IGNORE_LIMITS.bytes) throw refusal(IGNORE_FILE, `more than ${IGNORE_LIMITS.bytes} bytes`);
  readFile(walk, handle, IGNORE_FILE);
  const rules = new IgnoreRules(walk.contents.get(IGNORE_FILE)?.toString('utf8'));
  if (rules.size > walk.limits.patterns)
    throw refusal(IGNORE_FILE, `more than ${walk.limits.patterns} patterns`);
  return rules;
}

function readFolder(walk: Walk, folderFd: number, prefix: string): void {
  // The types lack the encoding `buffer`; without it, names that are not valid UTF-8 would be lost.
  const folder = opendirSync(`/proc/self/fd/${folderFd}`, { encoding: 'buffer' as BufferEncoding });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      readEntry(walk, folderFd, { prefix, entry: entry as unknown as Dirent<Buffer> });
    }
  } finally {
    folder.closeSync();
  }
}

function readEntry(walk: Walk, folderFd: number, found: { prefix: string; entry: Dirent<Buffer> }): void {
  const { entry, prefix } = found;
  const name = entry.name.toString('utf8');
  const path = prefix + name;
  walk.entries += 1;
  if (walk.entries > walk.limits.entries) throw refusal(path, `more than ${walk.limits.entries} entries`);
  if (path === IGNORE_FILE && walk.contents.has(path)) return;
  if (isLeftOut(walk, path, { isFolder: entry.isDirectory() })) return;
  refuseBadName(entry.name, path);
  const handle = `/proc/self/fd/${folderFd}/${name}`;
  if (entry.isDirectory()) descend(walk, handle, path);
  else if (entry.isFile()) readFile(walk, handle, path);
  else if (walk.rules && entry.isSymbolicLink() && !isKept(path)) walk.links.add(path);
  else throw refusal(path, kindOf(entry));
}

function isLeftOut(walk: Walk, path: string, entry: { isFolder: boolean; bytes?: Buffer }): boolean {
  if (!walk.rules) return false;
  const verdict = walk.rules.verdict(path, entry);
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (verdict === 'secret' || (verdict === 'part' && walk.rules.looksSecret(name, entry.bytes)))
    walk.secrets.add(path);
  if (verdict !== 'part') walk.ignored.add(path);
  return verdict !== 'part';
}

function descend(walk: Walk, handle: string, path: string): void {
  walk.folders += 1;
  if (walk.folders > walk.limits.folders) throw refusal(path, `more than ${walk.limits.folders} folders`);
  if (path.split('/').length > BUNDLE_LIMITS.depth) {
    throw refusal(path, `nested deeper than ${BUNDLE_LIMITS.depth} folders`);
  }
  const fd = openEntry(handle, OPEN_FOLDER, path);
  try {
    readFolder(walk, fd, `${path}/`);
  } finally {
    closeSync(fd);
  }
}

function readFile(walk: Walk, handle: string, path: string): void {
  if (!isAboutBundle(path) && ownFiles(walk) >= walk.limits.files)
    throw refusal(path, `more than ${walk.limits.files} files`);
  const fd = openEntry(handle, OPEN_FILE, path);
  try {
    const bytes = readOpenFile(fd, path, walk);
    if (isLeftOut(walk, path, { isFolder: false, bytes })) return;
    walk.bytes += bytes.length;
    walk.contents.set(path, bytes);
  } finally {
    closeSync(fd);
  }
}

/** The lock and its signatures do not count: otherwise, locking the largest bundle would make it unreadable. */
function isAboutBundle(path: string): boolean {
  return path === LOCK_FILE || path === SIGNATURE_FILE;
}

function ownFiles({ contents }: Walk): number {
  return contents.size - Number(contents.has(LOCK_FILE)) - Number(contents.has(SIGNATURE_FILE));
}

function readOpenFile(fd: number, path: string, { limits: { totalBytes }, bytes }: Walk): Buffer {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw refusal(path, 'not a regular file');
  if (stat.size > totalBytes - bytes) throw refusal(path, `more than ${totalBytes} bytes in total`);
  // One byte more than the stat size: a file that fills it is growing while we read.
  const buffer = Buffer.allocUnsafe(stat.size + 1);
  let length = 0;
  for (let got = -1; got !== 0 && length < buffer.length; length += got) {
    got = readSync(fd, buffer, length, buffer.length - length, null);
  }
  if (length !== stat.size) throw refusal(path, 'changed while it was being read');
  return buffer.subarray(0, length);
}

function openEntry(handle: string, flags: number, path: string): number {
  try {
    return openSync(handle, flags);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    const reason =
      code === 'ELOOP' || code === 'ENOTDIR' ? 'a symbolic link, or not a folder' : `unreadable (${code})`;
    throw refusal(path, reason, cause);
  }
}

/** Control and invisible characters can disguise one name as another in a prompt or a log. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/u;

/** Why a file or folder of this name cannot be part of a bundle; undefined if it can. `path` ends with the name. */
export function nameProblem(bytes: Buffer, path: string): string | undefined {
  const name = bytes.toString('utf8');
  if (!Buffer.from(name, 'utf8').equals(bytes)) return 'a name that is not valid UTF-8';
  if (UNSAFE_CHARACTERS.test(name)) return 'a name with control, invisible or backslash characters';
  if (name === '__proto__') return 'a reserved name';
  if (bytes.length > BUNDLE_LIMITS.nameBytes) return `a name over ${BUNDLE_LIMITS.nameBytes} bytes`;
  if (Buffer.byteLength(path) > BUNDLE_LIMITS.pathBytes)
    return `a path over ${BUNDLE_LIMITS.pathBytes} bytes`;
  return undefined;
}

function refuseBadName(bytes: Buffer, path: string): void {
  const problem = nameProblem(bytes, path);
  if (problem !== undefined) throw refusal(path, problem);
}

function kindOf(entry: Dirent<Buffer>): string {
  if (entry.isSymbolicLink()) return 'a symbolic link';
  if (entry.isFIFO()) return 'a named pipe';
  if (entry.isSocket()) return 'a socket';
  return 'not a regular file or folder';
}

function refusal(path: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('manifest_invalid', `The bundle cannot be read at ${quote(path)}: ${reason}.`, {
    fix: 'Keep only regular files and folders with plain names in the bundle, within its size limits.',
    detail: { file: path, reason, limits: BUNDLE_LIMITS },
    cause,
  });
}
