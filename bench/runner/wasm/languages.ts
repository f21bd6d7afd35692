/**
 * The job of the Wasm bench: the same skill in every language that it has been built from.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../../src/index.ts';
import { TEXT } from '../jobs.ts';

export interface Language {
  name: string;
  /** Folder of the skill. */
  dir: string;
}

/** A short English text: what is measured is what is around the skill. */
export const PARAMS: Readonly<Record<string, unknown>> = { text: TEXT };

export const C = 'C';
export const ASSEMBLYSCRIPT = 'AssemblyScript';
export const RUST = 'Rust';
export const GO = 'Go';
export const QUICKJS = 'TypeScript (QuickJS)';
export const SOURCE = 'TypeScript (source)';
export const STARLINGMONKEY = 'JavaScript (StarlingMonkey)';

const FOLDERS: readonly (readonly [name: string, folder: string])[] = [
  [C, 'word_stats_c'],
  [ASSEMBLYSCRIPT, 'word_stats_as'],
  [RUST, 'word_stats_rust'],
  [GO, 'word_stats_go'],
  [QUICKJS, 'word_stats_ts'],
  [SOURCE, 'word_stats'],
];

/** Those that can run; one that has not been built is no reason to measure nothing. */
export function builtLanguages(skills: string = join(packageRoot(), 'skills')): Language[] {
  return FOLDERS.map(([name, folder]) => ({ name, dir: join(skills, 'text', folder) })).filter(
    (language) => isBinary(language) || existsSync(join(language.dir, 'skill.ts')),
  );
}

/** What is measured is a binary of the author, not his source. */
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
