/**
 * The least rules for files that cover what was observed, and never more than was allowed. A file that was read is named
 * itself; where files were written, or several read, it is their folder, if that was allowed. A denied act is named exactly.
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

export interface FilesystemBounds {
  /** Rules of the present manifest. */
  declared: readonly FilesystemRule[];
  /** What the operator allowed for the observed call. */
  allowed: readonly FilesystemRule[];
}

export function leastFilesystem(
  files: ObservedFile[],
  { declared, allowed }: FilesystemBounds,
): Noted<FilesystemRule>[] {
  const needs = needsOf(files);
  const kept = declared
    .filter((rule) => !isBundlePath(rule.path))
    .flatMap((rule): Noted<FilesystemRule>[] => {
      const within = needs.filter((need) => covers(rule, need));
      if (within.length === 0) return [];
      const denied = within.every((need) => need.denied);
      const least = lowered(rule, within);
      // The author may have declared more than the operator let the skill do in this run.
      return denied || allowed.some((bound) => covers(bound, least)) ? [{ rule: least, denied }] : [];
    });
  const bundled = declared.filter((rule) => isBundlePath(rule.path)).map((rule) => ({ rule, denied: false }));
  const open = needs.filter((need) => !kept.some(({ rule }) => covers(rule, need)));
  const added = merged(open, allowed).map(({ path, access, denied }) => ({
    rule: { path, access, ...quotaOf({ path, access }, declared) },
    denied,
  }));
  return [...bundled, ...kept, ...added];
}

/** A quota that the author set for a wider place holds for a part of it. */
function quotaOf(
  place: { path: string; access: Access },
  declared: readonly FilesystemRule[],
): Pick<FilesystemRule, 'maxBytes'> {
  const wider = declared.find((rule) => rule.maxBytes !== undefined && covers(rule, place));
  return place.access === 'read' || wider?.maxBytes === undefined ? {} : { maxBytes: wider.maxBytes };
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
function merged(needs: Need[], allowed: readonly FilesystemRule[]): Need[] {
  const kept: Need[] = [];
  // What was used comes first: a denied act must not lend its rule to it. Then writable and short ones, which cover others.
  for (const need of asFolders(needs, allowed).toSorted((a, b) => rank(a) - rank(b))) {
    if (kept.some((other) => covers(other, need))) continue;
    const same = kept.findIndex(({ path }) => path === need.path);
    if (same >= 0) kept.splice(same, 1);
    kept.push(need);
  }
  return kept.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** To make a file is to change its folder, and whoever reads several files of a folder will read others next time. */
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

function lowered(rule: FilesystemRule, needs: Need[]): FilesystemRule {
  if (rule.access === 'read' || needs.some(({ access }) => access === 'read-write')) return rule;
  return { path: rule.path, access: 'read' };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
