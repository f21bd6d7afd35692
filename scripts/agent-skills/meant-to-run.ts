/**
 * Which script files are meant to be run: they read arguments, have a main part, or are executable and imported by no
 * other file. Judges by text only.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describeScripts, type Skill } from '../../src/inside.ts';

type ScriptFile = ReturnType<typeof describeScripts>[number];

const ARGUMENTS = /\bsys\.argv\b|\bargparse\b|\bimport click\b|\btyper\b|\bprocess\.argv\b/;
const MAIN = /^if __name__ == ["']__main__["']:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(\w+)/m;

export function meantToRun(bundle: Skill['bundle']): ScriptFile[] {
  const scripts = describeScripts(bundle).filter(({ language }) => language !== 'other');
  const texts = new Map(
    scripts.map(({ path }) => [path, readFileSync(join(bundle.stagedDir, path), 'utf8')] as const),
  );
  return scripts.filter(
    (script) => (script.runs || ARGUMENTS.test(texts.get(script.path) ?? '')) && isMeant(script, texts),
  );
}

export function isMeant(
  { path, language }: Pick<ScriptFile, 'path' | 'language'>,
  texts: ReadonlyMap<string, string>,
): boolean {
  if (posix.basename(path) === '__init__.py') return false;
  const text = texts.get(path) ?? '';
  if (ARGUMENTS.test(text) || (language !== 'python' && language !== 'node')) return true;
  const first = MAIN.exec(text)?.[1];
  // A main part that only raises says that the file is a library.
  if (first !== undefined) return first !== 'raise';
  return !isImported(path, texts);
}

function isImported(path: string, texts: ReadonlyMap<string, string>): boolean {
  const name = posix.basename(path).replace(/\.\w+$/, '');
  // Names with other characters cannot be imported.
  if (!/^\w+$/.test(name)) return false;
  const imports = new RegExp(`(?:^|\\n)\\s*(?:from|import)\\s+[\\w.]*\\b${name}\\b|/${name}['"]`);
  return [...texts].some(([other, text]) => other !== path && imports.test(text));
}
