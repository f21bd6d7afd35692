/**
 * What a command writes, copies and reads as code, so that a script of a skill cannot run under another name.
 *
 * @module
 */
import { dirname, normalize } from 'node:path';
import type { Findings } from './findings.ts';
import type { Surroundings } from './surroundings.ts';

type Words = readonly (string | undefined)[];

interface State {
  around: Surroundings;
  findings: Findings;
}

/** Programs that write a file named by an argument. */
const WRITERS: ReadonlySet<string> = new Set(['tee', 'uniq', 'xxd', 'sort', 'dd', 'sponge', 'patch']);
const COPIERS = new Set(['cp', 'mv', 'ln', 'install', 'rsync', 'scp']);
const PIECES = /[\s'"`()[\]{}<>|&;=,]+/;
const MAX_PIECES = 100;

/** `isFed`: an unknown program that reads from a pipe may write what it reads to any file in its arguments. */
export function noteWrites(
  name: string,
  args: Words,
  { around, findings, isFed }: State & { isFed: boolean },
): void {
  const isWriter =
    WRITERS.has(name) ||
    (name === 'git' && args.some((word) => word?.startsWith('--out') === true)) ||
    (name === 'find' && args.some((word) => /^-fp?(?:rint|ls)/.test(word ?? '')));
  if (isWriter || isFed) for (const word of args) addPlaces(findings.written, word, around);
  const copied = name === 'git' && args[0] === 'mv' ? args.slice(1) : COPIERS.has(name) ? args : [];
  const files = copied.filter((word) => word !== undefined && !word.startsWith('-'));
  const to = files.at(-1);
  if (to === undefined) return;
  for (const from of files.slice(0, -1))
    for (const source of around.placesOf(from ?? ''))
      for (const target of around.placesOf(to)) findings.copies.push({ from: source, to: normalize(target) });
}

/** Arguments of a program that may run what it gets. */
export function noteGiven(args: Words, { around, findings }: State): void {
  for (const word of args) addPlaces(findings.given, word, around);
}

function addPlaces(paths: Set<string>, word: string | undefined, around: Surroundings): void {
  const pieces = [word ?? '', ...(word ?? '').split(PIECES).slice(0, MAX_PIECES)];
  for (const piece of pieces) {
    const file = piece.replace(/^-\w/, '');
    for (const text of new Set([piece, file]))
      for (const place of around.placesOf(text)) paths.add(normalize(place));
  }
}

/** The skill whose file stands at this place once the copies before it were made. */
function copiedSkill(place: string, { copies }: Findings, around: Surroundings): string | undefined {
  const path = normalize(place);
  for (const { from, to } of copies) {
    if (path !== to && !path.startsWith(`${to}/`)) continue;
    const rest = path.slice(to.length);
    // Into a folder that exists, or as one that does not.
    for (const origin of [from + rest, dirname(from) + rest]) {
      const skill = around.folders.skillOf(origin);
      if (skill !== undefined) return skill;
    }
  }
  return undefined;
}

const STARTUP_FILES = ['.bashrc', '.bash_profile', '.bash_login', '.profile', '.zshrc', '.zprofile'];

/** Files that a shell reads when it starts. */
export function noteStartup(words: Words, { around, findings }: State): void {
  if (!words.some((word) => /^-\w*[il]\w*$|^--login$/.test(word ?? ''))) return;
  for (const name of STARTUP_FILES) findings.run.add(`${around.folders.home}/${name}`);
}

/** A program or script that is not of a skill where it stands now. */
export function noteRun(path: string, { around, findings }: State): 'copy of a script' | 'unknown' {
  const places = around.placesOf(path);
  for (const place of places) findings.run.add(normalize(place));
  const isCopy = places.some((place) => copiedSkill(place, findings, around) !== undefined);
  return isCopy ? 'copy of a script' : 'unknown';
}

/** Python and Node code that runs what it reads, or what another file contains. */
export function runsItsInput(code: string): boolean {
  return /\b(?:exec|eval|compile|runpy|subprocess|system|popen|spawn\w*|__import__|importlib|Function|vm|child_process|execfile)\b/.test(
    code,
  );
}

/** Files that Python code would import. */
export function importedFiles(code: string): string[] {
  const modules = [...code.matchAll(/\b(?:import|from)\s+([A-Za-z_][\w.]*)/g)].map(([, name = '']) => name);
  return modules.map((module) => `${module.replaceAll('.', '/')}.py`);
}
