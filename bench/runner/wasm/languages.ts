/**
 * The job of the Wasm bench: the same skill in every language that it has been built from.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
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

const SUFFIXES: readonly (readonly [name: string, suffix: string])[] = [
  [C, 'c'],
  [ASSEMBLYSCRIPT, 'as'],
  [RUST, 'rust'],
  [GO, 'go'],
  [QUICKJS, 'ts'],
];

/** Those whose binary is there; one that has not been built is no reason to measure nothing. */
export function builtLanguages(skills: string = join(packageRoot(), 'skills')): Language[] {
  return SUFFIXES.map(([name, suffix]) => ({
    name,
    dir: join(skills, 'text', `word_stats_${suffix}`),
  })).filter(({ dir }) => existsSync(join(dir, 'skill.wasm')));
}
