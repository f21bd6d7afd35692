/**
 * The languages of the scripts in Agent Skills folders, and how a file of each is recognized.
 *
 * @module
 */
import { namesOf } from './table.ts';

export const SCRIPT_LANGUAGES = {
  python: { endings: ['.py'], interpreters: ['python', 'python2', 'python3', 'uv', 'uvx', 'pypy3'] },
  shell: {
    endings: ['.sh', '.bash', '.zsh', '.ksh'],
    interpreters: ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash'],
  },
  node: {
    endings: ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'],
    interpreters: ['node', 'nodejs', 'tsx', 'ts-node', 'bun', 'deno'],
  },
  /** Any other program that a file names after `#!`. */
  other: { endings: [], interpreters: [] },
} as const;

export type ScriptLanguage = keyof typeof SCRIPT_LANGUAGES;

export const SCRIPT_LANGUAGE_NAMES: readonly ScriptLanguage[] = namesOf(SCRIPT_LANGUAGES);
