/**
 * The files that a command changed in granted folders, found by comparing the folders before and after. Bounded. Folders
 * are opened one inside the other and links are never followed, so that nothing outside a granted path is ever named.
 *
 * @module
 */
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises';
import type { Grant, GrantedPath } from '../policy/grant.ts';

/** Files and folders that are examined, including those that are not listed. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 64;
/** Changes in a result; more are only counted. */
const MAX_CHANGES = 1000;
const ODD_NAMES = 'Files and folders whose names are not UTF-8 are not listed among the changed files';
const NOT_LISTED = /^Changed files are not listed|^\d+ more changed files are not listed$/;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A file that a command changed. */
export interface FileChange {
  /** As the script sees it. */
  path: string;
  /** Its size now; 0 if it was removed. */
  bytes: number;
  change: 'created' | 'changed' | 'removed';
}

export interface ChangedFiles {
  files: FileChange[];
  /** What is missing from the list, in words. */
  warnings: string[];
}

interface Entry {
  bytes: number;
  /** Differs after any change of the content. */
  stamp: string;
}

export interface Snapshot {
  /** By path in the cell. */
  entries: Map<string, Entry>;
  /** How many more files and folders may be looked at. */
  left: number;
  /** Whether a name was no text: what has such a name cannot be listed. */
  hasOddNames: boolean;
  isCut: boolean;
}

/** Whether a warning says that files may have changed that are not listed. */
export function hidesChanges(warning: string): boolean {
  return warning === ODD_NAMES || NOT_LISTED.test(warning);
}

export async function takeSnapshot(
  { filesystem }: Pick<Grant, 'filesystem'>,
  most: number = MAX_ENTRIES,
): Promise<Snapshot> {
  const snapshot: Snapshot = { entries: new Map(), left: most, hasOddNames: false, isCut: false };
  for (const path of filesystem)
    if (path.access === 'read-write' && !path.isPin) await addPath(snapshot, path);
  return snapshot;
}

export async function changedFiles(
  before: Snapshot,
  grant: Pick<Grant, 'filesystem'>,
): Promise<ChangedFiles> {
  const after = await takeSnapshot(grant);
  if (before.isCut || after.isCut)
    return {
      files: [],
      warnings: [`Changed files are not listed: there are more than ${MAX_ENTRIES} files and folders`],
    };
  const written = [...after.entries].flatMap(([path, { bytes, stamp }]): FileChange[] => {
    const earlier = before.entries.get(path);
    if (earlier?.stamp === stamp) return [];
    return [{ path, bytes, change: earlier ? 'changed' : 'created' }];
  });
  const removed = [...before.entries.keys()]
    .filter((path) => !after.entries.has(path))
    .map((path): FileChange => ({ path, bytes: 0, change: 'removed' }));
  const all = [...written, ...removed].sort((a, b) => (a.path < b.path ? -1 : 1));
  const more = all.length - MAX_CHANGES;
  const warnings = [
    ...(more > 0 ? [`${more} more changed files are not listed`] : []),
    ...(before.hasOddNames || after.hasOddNames ? [ODD_NAMES] : []),
  ];
  return { files: all.slice(0, MAX_CHANGES), warnings };
}

async function addPath(snapshot: Snapshot, { host, guest, isFile }: GrantedPath): Promise<void> {
  if (isFile) return addEntry(snapshot, guest, await lstat(host, { bigint: true }).catch(() => undefined));
  await addFolder(snapshot, { path: host, guest, depth: 0 });
}

interface Folder {
  path: string;
  guest: string;
  depth: number;
}

async function addFolder(snapshot: Snapshot, { path, guest, depth }: Folder): Promise<void> {
  if (depth > MAX_DEPTH) snapshot.isCut = true;
  if (snapshot.isCut) return;
  const folder = await open(path, FOLDER).catch(() => undefined);
  if (!folder) return;
  try {
    await addContents(snapshot, folder, { guest, depth });
  } finally {
    await folder.close();
  }
}

async function addContents(
  snapshot: Snapshot,
  { fd }: FileHandle,
  { guest, depth }: Omit<Folder, 'path'>,
): Promise<void> {
  // Names are looked up in the open folder, which cannot be replaced by a link meanwhile.
  const inside = `/proc/self/fd/${fd}`;
  const names = await opendir(inside).catch(() => undefined);
  // Read bit by bit: a command can create more names than fit into memory.
  for await (const { name } of names ?? []) {
    snapshot.isCut ||= snapshot.left-- <= 0;
    if (snapshot.isCut) return;
    await addName(snapshot, name, { inside, guest, depth });
  }
}

async function addName(
  snapshot: Snapshot,
  name: string,
  { inside, guest, depth }: Omit<Folder, 'path'> & { inside: string },
): Promise<void> {
  // Bytes that are not UTF-8 become this character, so the name no longer leads to the file.
  if (name.includes('\uFFFD')) snapshot.hasOddNames = true;
  const found = await lstat(`${inside}/${name}`, { bigint: true }).catch(() => undefined);
  if (!found?.isDirectory()) return addEntry(snapshot, `${guest}/${name}`, found);
  await addFolder(snapshot, { path: `${inside}/${name}`, guest: `${guest}/${name}`, depth: depth + 1 });
}

function addEntry(snapshot: Snapshot, guest: string, found: BigIntStats | undefined): void {
  if (!found) return;
  const stamp = [found.ino, found.size, found.mtimeNs, found.ctimeNs, found.mode].join(' ');
  snapshot.entries.set(guest, { bytes: Number(found.size), stamp });
}
