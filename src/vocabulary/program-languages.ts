/**
 * The languages of programs, and the bundle of ours that runs each.
 *
 * @module
 */
import { choicesOf, namesOf } from './table.ts';

export const PROGRAM_LANGUAGES = {
  typescript: { folder: 'typescript' },
  javascript: { folder: 'typescript' },
  python: { folder: 'python' },
} as const;

/** A language of programs. */
export type ProgramLanguage = keyof typeof PROGRAM_LANGUAGES;
export const PROGRAM_LANGUAGE_NAMES: readonly [ProgramLanguage, ...ProgramLanguage[]] = choicesOf(
  namesOf(PROGRAM_LANGUAGES),
);
