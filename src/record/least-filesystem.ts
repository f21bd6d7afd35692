/**
 * The least rules for files that cover what was observed. A file that was read is named itself; where files were written,
 * or several read, it is their folder.
 *
 * @module
 */
import type { FilesystemRule } from '../manifest/manifest.ts';
import { filesystemPathProblem, isBundlePath, WORKSPACE } from '../manifest/places.ts';
import { GUEST_WORKSPACE, readDeclaredPath } from '../policy/guest-paths.ts';
import type { ObservedFile } from './observed.ts';
import type { Noted } from './least.ts';

type Access = FilesystemRule['access'];

/** A place that a rule can name, with what was done there. */
interface Need {
  path: string;
  access: Access;
  denied: boolean;
}

export function leastFilesystem(files: ObservedFile[], declared: FilesystemRule[]): Noted<FilesystemRule>[] {
  const needs = needsOf(files);
  const kept = declared
    .filter((rule) => !isBundlePath(rule.path))
    .flatMap((rule): Noted<FilesystemRule>[] => {
      const within = needs.filter((need) => isWithin(need.path, rule.path) && allows(rule, need));
      if (within.length === 0) return [];
      return [{ rule: lowered(rule, within), denied: within.every(({ denied }) => denied) }];
    });
  const bundled = declared.filter((rule) => isBundlePath(rule.path)).map((rule) => ({ rule, denied: false }));
  const open = needs.filter(
    (need) => !kept.some(({ rule }) => isWithin(need.path, rule.path) && allows(rule, need)),
  );
  const added = merged(open).map(({ path, access, denied }) => ({ rule: { path, access }, denied }));
  return [...bundled, ...kept, ...added];
}

/** Rules for places where nothing was done. Reading the bundle needs no rule, so one for it is no matter. */
export function unusedFilesystem(files: ObservedFile[], declared: FilesystemRule[]): FilesystemRule[] {
  const needs = needsOf(files);
  return declared.filter(
    (rule) => !isBundlePath(rule.path) && !needs.some((need) => isWithin(need.path, rule.path)),
  );
}

function needsOf(files: ObservedFile[]): Need[] {
  return files.flatMap(({ path, access, denied }): Need[] => {
    const place = placeOf(path);
    return place === undefined
      ? []
      : [{ path: place, access: access === 'write' ? 'read-write' : 'read', denied }];
  });
}

/** A guest path as a manifest names it; undefined for places that a cell has for itself. */
function placeOf(guest: string): string | undefined {
  const path =
    guest === GUEST_WORKSPACE || guest.startsWith(`${GUEST_WORKSPACE}/`)
      ? WORKSPACE + guest.slice(GUEST_WORKSPACE.length)
      : guest;
  return isDeclarable(path) ? path : undefined;
}

function isDeclarable(path: string): boolean {
  if (isBundlePath(path) || filesystemPathProblem(path) !== undefined) return false;
  try {
    readDeclaredPath({ path, access: 'read' });
    return true;
  } catch {
    return false;
  }
}

/** The folder, as far as a rule can name it. */
function folderOf(path: string): string {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return folder !== '' && isDeclarable(folder) ? folder : path;
}

/** One rule per place: folders instead of several files of theirs, and nothing that lies within another. */
function merged(needs: Need[]): Need[] {
  const kept: Need[] = [];
  // Writable and short first: they cover the others.
  for (const need of asFolders(needs).toSorted((a, b) => rank(a) - rank(b))) {
    const cover = kept.find((other) => isWithin(need.path, other.path) && allows(other, need));
    if (cover) cover.denied &&= need.denied;
    else kept.push({ ...need });
  }
  return kept.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** To make a file is to change its folder, and whoever reads several files of a folder will read others next time. */
function asFolders(needs: Need[]): Need[] {
  const read = new Set(needs.filter(({ access }) => access === 'read').map(({ path }) => path));
  const siblings = (path: string): number =>
    [...read].filter((other) => folderOf(other) === folderOf(path)).length;
  return needs.map((need) =>
    need.access === 'read-write' || siblings(need.path) > 1 ? { ...need, path: folderOf(need.path) } : need,
  );
}

function rank({ path, access }: Need): number {
  return path.length + (access === 'read-write' ? 0 : 1_000_000);
}

function allows({ access }: { access: Access }, need: { access: Access }): boolean {
  return access === 'read-write' || need.access === 'read';
}

function lowered(rule: FilesystemRule, needs: Need[]): FilesystemRule {
  if (rule.access === 'read' || needs.some(({ access }) => access === 'read-write')) return rule;
  return { path: rule.path, access: 'read' };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
