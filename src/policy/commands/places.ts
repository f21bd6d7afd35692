/**
 * Finds the file that a word of a command means: a verified file of the bundle, or a file of the workspace. Lexical, so
 * that no link of the host decides.
 *
 * @module
 */
import { posix } from 'node:path';
import type { FileDigests } from '../../load/bundle.ts';
import { GUEST_WORKSPACE } from '../guest-paths.ts';

export const GUEST_SKILL = '/skill';

/** `--out=/some/path`, and `of=/some/path` as some programs want it. */
const ASSIGNED = /^(-{0,2}[A-Za-z][\w.-]*=)(\/.*)$/s;

export interface CommandPlaces {
  files: FileDigests;
  /** Host folders by which a caller may name the bundle. */
  skillDirs: readonly string[];
  /** Host folders by which a caller may name the workspace; empty without a workspace. */
  workspaceDirs: readonly string[];
}

/** Path inside the bundle, or undefined if the word means none of its files. */
export function bundleFile(
  word: string,
  { files, skillDirs, workspaceDirs }: CommandPlaces,
): string | undefined {
  const absolute = posix.isAbsolute(word);
  const named = absolute ? [] : [posix.normalize(word)];
  // `python .claude/skills/pdf/scripts/x.py` in the project that contains the skill.
  const onHost = absolute ? [posix.normalize(word)] : workspaceDirs.map((dir) => posix.join(dir, word));
  const inside = [GUEST_SKILL, ...skillDirs].flatMap((dir) => onHost.flatMap((path) => below(dir, path)));
  return [...named, ...inside].find((path) => Object.hasOwn(files, path));
}

/** Path in the cell, or undefined if the word does not lead into the workspace. */
export function workspaceFile(word: string, places: CommandPlaces): string | undefined {
  if (places.workspaceDirs.length === 0) return undefined;
  const path = posix.resolve(GUEST_WORKSPACE, guestPath(word, places));
  const [inside] = below(GUEST_WORKSPACE, path);
  return inside === undefined ? undefined : `${GUEST_WORKSPACE}/${inside}`;
}

/** An argument as the cell knows it: agents name files by their place on this machine. Other words stay as they are. */
export function guestWord(word: string, places: CommandPlaces): string {
  const [, option = '', value = word] = ASSIGNED.exec(word) ?? [];
  return option + guestPath(value, places);
}

/** The innermost folder decides, because a skill often lies inside the project. */
function guestPath(path: string, { skillDirs, workspaceDirs }: CommandPlaces): string {
  if (!posix.isAbsolute(path)) return path;
  const named = posix.normalize(path);
  const folders = [
    ...workspaceDirs.map((host) => ({ host, guest: GUEST_WORKSPACE })),
    ...skillDirs.map((host) => ({ host, guest: GUEST_SKILL })),
  ];
  const [around] = folders
    .filter(({ host }) => host !== '/' && (named === host || named.startsWith(`${host}/`)))
    .toSorted((a, b) => b.host.length - a.host.length);
  return around === undefined ? path : around.guest + named.slice(around.host.length);
}

function below(dir: string, path: string): string[] {
  const folder = dir.endsWith('/') ? dir : `${dir}/`;
  return path.startsWith(folder) && path !== folder ? [path.slice(folder.length)] : [];
}
