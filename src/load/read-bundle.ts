/**
 * Reads a bundle folder exactly once and hashes while reading, so that what is checked is what runs.
 * Every step goes through an open directory (`/proc/self/fd/N/name`, never following a link):
 * swapping a directory for a link while we read cannot lead out of the bundle.
 *
 * @module
 */
import { closeSync, constants, fstatSync, opendirSync, openSync, readSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { SkillError } from '../errors.ts';
import { quote } from '../manifest/quote.ts';
import type { FileDigests } from './bundle.ts';
import { digestFiles, sha256 } from './digest.ts';

export const BUNDLE_LIMITS = {
  files: 2000,
  folders: 2000,
  totalBytes: 67_108_864,
  depth: 16,
  nameBytes: 255,
  pathBytes: 1024,
} as const;

export interface ReadLimits {
  files: number;
  folders: number;
  totalBytes: number;
}

/** What is read and hashed on the thread of the event loop: a few milliseconds of work. */
export const LIMITS_HERE: ReadLimits = { files: 200, folders: 200, totalBytes: 1024 * 1024 };

export const LOCK_FILE = 'skill.lock';
export const SIGNATURE_FILE = 'skill.sig';

/** Left out of bundle and digest wherever they are: no cell ever sees them. */
const IGNORED_NAMES: ReadonlySet<string> = new Set(['.git', '__pycache__']);

export interface BundleFiles {
  /** Bytes of every file by its path inside the bundle. `skill.lock` and `skill.sig` are not among them. */
  contents: ReadonlyMap<string, Buffer>;
  files: FileDigests;
  digest: string;
  /** The lock beside the manifest; it describes the bundle and is therefore no part of it. */
  lock?: Buffer;
  /** Signatures of the lock. */
  signature?: Buffer;
}

/** Reads a bundle as its author keeps it. Anything but plain files and folders is refused. */
export function readBundle(dir: string, limits: ReadLimits = BUNDLE_LIMITS): BundleFiles {
  const contents = readTree(dir, IGNORED_NAMES, limits);
  const lock = contents.get(LOCK_FILE);
  const signature = contents.get(SIGNATURE_FILE);
  contents.delete(LOCK_FILE);
  contents.delete(SIGNATURE_FILE);
  return { ...hashContents(contents), ...(lock ? { lock } : {}), ...(signature ? { signature } : {}) };
}

/** Reads a folder in which every file counts, as a staged copy must be read: nothing is left out. */
export function readEverything(dir: string): BundleFiles {
  return hashContents(readTree(dir, new Set()));
}

function hashContents(contents: ReadonlyMap<string, Buffer>): BundleFiles {
  const paths = [...contents.keys()].sort();
  const files = Object.fromEntries(paths.map((path) => [path, sha256(contents.get(path) ?? '')]));
  return { contents, files, digest: digestFiles(files) };
}

interface Walk {
  contents: Map<string, Buffer>;
  ignored: ReadonlySet<string>;
  limits: ReadLimits;
  bytes: number;
  folders: number;
}

const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// Without O_NONBLOCK, opening a FIFO that took the place of a file would wait for ever.
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function readTree(
  dir: string,
  ignored: ReadonlySet<string>,
  limits: ReadLimits = BUNDLE_LIMITS,
): Map<string, Buffer> {
  const walk: Walk = { contents: new Map(), ignored, limits, bytes: 0, folders: 0 };
  const fd = openEntry(dir, OPEN_FOLDER, dir);
  try {
    readFolder(walk, fd, '');
  } finally {
    closeSync(fd);
  }
  return walk.contents;
}

function readFolder(walk: Walk, folderFd: number, prefix: string): void {
  // The encoding `buffer` is missing from the types; names that are no UTF-8 would be lost without it.
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
  const name = found.entry.name.toString('utf8');
  if (walk.ignored.has(name)) return;
  const path = found.prefix + name;
  refuseBadName(found.entry.name, path);
  const handle = `/proc/self/fd/${folderFd}/${name}`;
  if (found.entry.isDirectory()) descend(walk, handle, path);
  else if (found.entry.isFile()) readFile(walk, handle, path);
  else throw refusal(path, kindOf(found.entry));
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
  if (walk.contents.size >= walk.limits.files) throw refusal(path, `more than ${walk.limits.files} files`);
  const fd = openEntry(handle, OPEN_FILE, path);
  try {
    const bytes = readOpenFile(fd, path, walk);
    walk.bytes += bytes.length;
    walk.contents.set(path, bytes);
  } finally {
    closeSync(fd);
  }
}

function readOpenFile(fd: number, path: string, { limits: { totalBytes }, bytes }: Walk): Buffer {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw refusal(path, 'no regular file');
  if (stat.size > totalBytes - bytes) throw refusal(path, `more than ${totalBytes} bytes in total`);
  // One byte more than announced: a file that fills it is growing under our hands.
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
      code === 'ELOOP' || code === 'ENOTDIR' ? 'a symbolic link or no folder' : `unreadable (${code})`;
    throw refusal(path, reason, cause);
  }
}

/** Control and invisible characters can make one name look like another in a prompt or a log. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/u;

function refuseBadName(bytes: Buffer, path: string): void {
  const name = bytes.toString('utf8');
  if (!Buffer.from(name, 'utf8').equals(bytes)) throw refusal(path, 'a name that is no valid UTF-8');
  if (UNSAFE_CHARACTERS.test(name))
    throw refusal(path, 'a name with control, invisible or backslash characters');
  if (name === '__proto__') throw refusal(path, 'a reserved name');
  if (bytes.length > BUNDLE_LIMITS.nameBytes)
    throw refusal(path, `a name over ${BUNDLE_LIMITS.nameBytes} bytes`);
  if (Buffer.byteLength(path) > BUNDLE_LIMITS.pathBytes) {
    throw refusal(path, `a path over ${BUNDLE_LIMITS.pathBytes} bytes`);
  }
}

function kindOf(entry: Dirent<Buffer>): string {
  if (entry.isSymbolicLink()) return 'a symbolic link';
  if (entry.isFIFO()) return 'a named pipe';
  if (entry.isSocket()) return 'a socket';
  return 'no regular file or folder';
}

function refusal(path: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('manifest_invalid', `The bundle cannot be read at ${quote(path)}: ${reason}.`, {
    fix: 'Keep only regular files and folders with plain names in the bundle, within its size limits.',
    detail: { file: path, reason, limits: BUNDLE_LIMITS },
    cause,
  });
}
