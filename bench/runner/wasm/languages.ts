/**
 * The job of the Wasm bench: the same skill in every language that it was built from.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../../src/inside.ts';
import { TEXT } from '../jobs.ts';

export interface Language {
  name: string;
  /** Folder of the skill. */
  dir: string;
}

/** A short English text, so that the overhead is measured. */
export const PARAMS: Readonly<Record<string, unknown>> = { text: TEXT };

export const C = 'C';
export const ASSEMBLYSCRIPT = 'AssemblyScript';
export const RUST = 'Rust';
export const GO = 'Go';
export const QUICKJS = 'TypeScript (QuickJS)';
export const SOURCE = 'TypeScript (source)';
export const STARLINGMONKEY = 'JavaScript (StarlingMonkey)';

const FOLDERS: readonly (readonly [name: string, folder: string])[] = [
  [C, 'skills/text/word_stats_c'],
  [ASSEMBLYSCRIPT, 'skills/text/word_stats_as'],
  [RUST, 'skills/text/word_stats_rust'],
  // Too large to be bundled; measured if they were built.
  [GO, 'examples/text/word_stats_go'],
  [QUICKJS, 'examples/text/word_stats_ts'],
  [SOURCE, 'skills/text/word_stats'],
];

/** Languages that can run; one that was not built does not prevent measuring the others. */
export function builtLanguages(root: string = packageRoot()): Language[] {
  return FOLDERS.map(([name, folder]) => ({ name, dir: join(root, folder) })).filter(
    (language) => isBinary(language) || existsSync(join(language.dir, 'skill.ts')),
  );
}

/** The author's binary is measured, not a new build of the source. */
export function isBinary({ dir }: Language): boolean {
  return existsSync(join(dir, 'skill.wasm'));
}

/** A skill like this one with another binary; its name is that of its folder. */
export function writeBundle(like: Language, dir: string, binary: Uint8Array): void {
  mkdirSync(dir, { recursive: true });
  const manifest = readFileSync(join(like.dir, 'manifest.yaml'), 'utf8');
  writeFileSync(join(dir, 'manifest.yaml'), manifest.replace(/^name: .*/m, `name: text/${basename(dir)}`));
  writeFileSync(join(dir, 'skill.wasm'), binary);
}
