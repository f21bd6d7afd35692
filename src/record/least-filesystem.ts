/**
 * The narrowest file rules that cover the observed accesses, never wider than what was allowed. A single file that was read
 * gets a rule of its own; written files, and several files read in one folder, get a rule for the folder if that was
 * allowed. A denied access gets a rule for its exact path.
 *
 * @module
 */
import type { FilesystemRule } from '../manifest/manifest.ts';
import { filesystemPathProblem, isBundlePath, WORKSPACE } from '../manifest/places.ts';
import { GUEST_WORKSPACE, readDeclaredPath } from '../policy/guest-paths.ts';
import type { ObservedFile } from './observed.ts';
import type { ObservedRule } from './least.ts';

type Access = FilesystemRule['access'];

/** A path that a rule can name, with the access that was observed. */
interface Need {
  path: string;
  access: Access;
  denied: boolean;
}

export interface FilesystemBounds {
  /** Rules of the present manifest. */
  declared: readonly FilesystemRule[];
  /** What the operator allowed for the observed call. */
  allowed: readonly FilesystemRule[];
}

export function leastFilesystem(
  files: ObservedFile[],
  { declared, allowed }: FilesystemBounds,
): ObservedRule<FilesystemRule>[] {
  const needs = needsOf(files);
  const kept = declared
    .filter((rule) => !isBundlePath(rule.path))
    .flatMap((rule): ObservedRule<FilesystemRule>[] => {
      const within = needs.filter((need) => covers(rule, need));
      if (within.length === 0) return [];
      const denied = within.every((need) => need.denied);
      const least = lowerAccess(rule, within);
      // The author may have declared more than the operator allowed in this run.
      return denied || allowed.some((bound) => covers(bound, least)) ? [{ rule: least, denied }] : [];
    });
  const bundled = declared.filter((rule) => isBundlePath(rule.path)).map((rule) => ({ rule, denied: false }));
  const open = needs.filter((need) => !kept.some(({ rule }) => covers(rule, need)));
  const added = merge(open, allowed).map(({ path, access, denied }) => ({
    rule: { path, access, ...quotaOf({ path, access }, declared) },
    denied,
  }));
  return [...bundled, ...kept, ...added];
}

/** A quota that the author set for a folder also applies to its parts. */
function quotaOf(
  place: { path: string; access: Access },
  declared: readonly FilesystemRule[],
): Pick<FilesystemRule, 'maxBytes'> {
  const wider = declared.find((rule) => rule.maxBytes !== undefined && covers(rule, place));
  return place.access === 'read' || wider?.maxBytes === undefined ? {} : { maxBytes: wider.maxBytes };
}

/** Rules for paths that were not accessed. Ignores rules for the bundle, which is always readable. */
export function unusedFilesystem(files: ObservedFile[], declared: FilesystemRule[]): FilesystemRule[] {
  const needs = needsOf(files);
  return declared.filter(
    (rule) => !isBundlePath(rule.path) && !needs.some((need) => isWithin(need.path, rule.path)),
  );
}

function needsOf(files: ObservedFile[]): Need[] {
  return files.flatMap((file): Need | Need[] => needOf(file) ?? []);
}

function needOf({ path, access, denied }: ObservedFile): Need | undefined {
  const place = placeOf(path);
  return place === undefined
    ? undefined
    : { path: place, access: access === 'write' ? 'read-write' : 'read', denied };
}

/** Whether this access was possible under these rules. One that no rule could name is private to the cell, and harmless. */
export function wasPossible(file: ObservedFile, allowed: readonly FilesystemRule[]): boolean {
  const need = needOf(file);
  return need === undefined || allowed.some((bound) => covers(bound, need));
}

/** A guest path as a manifest names it; undefined for paths that are private to the sandbox. */
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

/** The folder of a path, or the path itself if no rule can name the folder. */
function folderOf(path: string): string {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return folder !== '' && isDeclarable(folder) ? folder : path;
}

/** One rule per path: folders instead of several of their files, and no rule inside another. */
function merge(needs: Need[], allowed: readonly FilesystemRule[]): Need[] {
  const kept: Need[] = [];
  // Used paths first, so that they are not covered by the rule of a denied one. Then writable and short ones, which cover others.
  for (const need of asFolders(needs, allowed).toSorted((a, b) => rank(a) - rank(b))) {
    if (kept.some((other) => covers(other, need))) continue;
    const same = kept.findIndex(({ path }) => path === need.path);
    if (same >= 0) kept.splice(same, 1);
    kept.push(need);
  }
  return kept.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Creating a file changes its folder, and a skill that reads several files of a folder will read others next time. */
function asFolders(needs: Need[], allowed: readonly FilesystemRule[]): Need[] {
  const read = new Set(
    needs.filter(({ access, denied }) => access === 'read' && !denied).map(({ path }) => path),
  );
  const siblings = (path: string): number =>
    [...read].filter((other) => folderOf(other) === folderOf(path)).length;
  return needs.map((need) => {
    if (need.denied || (need.access === 'read' && siblings(need.path) < 2)) return need;
    const folder = { ...need, path: folderOf(need.path) };
    return allowed.some((bound) => covers(bound, folder)) ? folder : need;
  });
}

function rank({ path, access, denied }: Need): number {
  return path.length + (access === 'read-write' ? 0 : 1_000_000) + (denied ? 2_000_000 : 0);
}

function covers(rule: { path: string; access: Access }, need: { path: string; access: Access }): boolean {
  return isWithin(need.path, rule.path) && (rule.access === 'read-write' || need.access === 'read');
}

function lowerAccess(rule: FilesystemRule, needs: Need[]): FilesystemRule {
  if (rule.access === 'read' || needs.some(({ access }) => access === 'read-write')) return rule;
  return { path: rule.path, access: 'read' };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
