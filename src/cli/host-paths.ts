/**
 * Warns about parameters that name files of this machine which the cell cannot see: a skill would find nothing there, or
 * write to a place that is lost. Only for people at the command line; an agent must not learn what exists on the host.
 *
 * @module
 */
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, normalize, relative, resolve } from 'node:path';
import { shellWord, type Plan } from '../inside.ts';

const MAX_TEXTS = 200;
/** Deeper parameters are refused later. */
const MAX_DEPTH = 64;
/** Nobody should grant these, and a cell has its own. */
const SYSTEM = /^\/(?:$|(?:etc|usr|s?bin|lib\w*|proc|dev|sys|run|boot)(?:\/|$)|tmp$)/;
const GUEST_WORKSPACE = '/workspace';

type GrantedPaths = readonly Pick<Plan['grant']['filesystem'][number], 'guest'>[];

/** Texts in the parameters that are paths of existing files or folders. */
export function hostPathsIn(params: unknown): string[] {
  const texts: string[] = [];
  collectTexts(params, texts);
  const paths = texts.filter(
    (text) => isAbsolute(text) && !text.includes('\0') && !SYSTEM.test(resolve(text)),
  );
  return [...new Set(paths)].filter((path) => existsSync(path));
}

function collectTexts(value: unknown, texts: string[], depth = 0): void {
  if (texts.length >= MAX_TEXTS || depth > MAX_DEPTH) return;
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) collectTexts(inner, texts, depth + 1);
}

/** One warning per path that the cell does not see under its name. */
export function invisiblePaths(
  paths: readonly string[],
  granted: GrantedPaths,
  workspace?: string,
): string[] {
  const isGranted = (path: string): boolean =>
    granted.some(({ guest }) => path === guest || path.startsWith(`${guest}/`));
  return paths.filter((path) => !isGranted(resolve(path))).map((path) => describe(path, workspace));
}

/** The same for the words of a command, whose paths below the workspace and the skill the cell knows. */
export function invisibleWords(
  words: readonly string[],
  granted: GrantedPaths,
  known: readonly (string | undefined)[],
): string[] {
  const folders = known.flatMap((folder) => (folder === undefined ? [] : bothNames(resolve(folder))));
  const isVisible = (path: string): boolean =>
    [...folders, ...granted.map(({ guest }) => guest)].some(
      (folder) => path === folder || path.startsWith(`${folder}/`),
    );
  return hostPathsIn(words.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]))
    .filter((path) => !isVisible(resolve(path)))
    .map(
      (path) =>
        `The command names ${JSON.stringify(path)}, which exists on this machine, but the script cannot see it. Put it into the workspace (--workspace DIR), and pass its path there.`,
    );
}

/**
 * Relative words that name a file from where the person is, but not from where the command starts: its workspace, or scratch
 * space without one. A word may mean anything, so this is only for commands that failed.
 */
export function misplacedWords(
  words: readonly string[],
  { workspace, files }: { workspace: string | undefined; files: Readonly<Record<string, string>> },
): string[] {
  const isNamed = (word: string): boolean =>
    /[./]/.test(word) && !isAbsolute(word) && !/[\0\n]/.test(word) && existsSync(word);
  const isSeen = (word: string): boolean =>
    Object.hasOwn(files, normalize(word)) ||
    (workspace !== undefined &&
      !isOutside(workspace, resolve(workspace, word)) &&
      existsSync(resolve(workspace, word)));
  return [...new Set(words.slice(1, MAX_TEXTS))]
    .filter((word) => isNamed(word) && !isSeen(word))
    .map((word) => `${describeMisplaced(word)} ${whereToPut(word, workspace)}`);
}

function describeMisplaced(word: string): string {
  return `The command names ${JSON.stringify(word)}, which exists here, but relative paths of a script begin in its workspace.`;
}

function whereToPut(word: string, workspace: string | undefined): string {
  if (workspace === undefined)
    return 'Pass --workspace DIR before "--", such as --workspace . for this folder.';
  const path = resolve(word);
  if (isOutside(workspace, path)) return 'Pass a --workspace that contains it.';
  return `Pass ${JSON.stringify(relative(resolve(workspace), path))}.`;
}

function isOutside(folder: string, path: string): boolean {
  const inside = relative(resolve(folder), path);
  return inside.startsWith('..') || isAbsolute(inside);
}

/** A folder as given, and without links. */
function bothNames(folder: string): string[] {
  return [folder, ...(existsSync(folder) ? [realpathSync(folder)] : [])];
}

function describe(path: string, workspace: string | undefined): string {
  const inside = workspace === undefined ? undefined : relative(resolve(workspace), resolve(path));
  const what = `The parameter ${JSON.stringify(path)} exists on this machine, but the skill cannot see it there`;
  if (inside !== undefined && !inside.startsWith('..') && !isAbsolute(inside))
    return `${what}. The workspace is ${GUEST_WORKSPACE} inside the cell: pass ${JSON.stringify(`${GUEST_WORKSPACE}/${inside}`.replace(/\/$/, ''))} instead.`;
  return `${what}, and what it writes there is lost. Pass --workspace ${shellWord(path)} and the path ${JSON.stringify(GUEST_WORKSPACE)} to a skill that declares "\${workspace}".`;
}
