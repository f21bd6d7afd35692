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
export function workspaceFile(word: string, { workspaceDirs }: CommandPlaces): string | undefined {
  if (workspaceDirs.length === 0) return undefined;
  const path = posix.resolve(GUEST_WORKSPACE, word);
  const [inside] = [GUEST_WORKSPACE, ...workspaceDirs].flatMap((dir) => below(dir, path));
  return inside === undefined ? undefined : `${GUEST_WORKSPACE}/${inside}`;
}

function below(dir: string, path: string): string[] {
  const folder = dir.endsWith('/') ? dir : `${dir}/`;
  return path.startsWith(folder) && path !== folder ? [path.slice(folder.length)] : [];
}
