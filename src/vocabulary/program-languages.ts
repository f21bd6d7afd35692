/**
 * The languages of programs, and the bundle of ours that runs each.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

export const PROGRAM_LANGUAGES = {
  typescript: 'typescript',
  javascript: 'typescript',
  python: 'python',
} as const;

/** A language of programs. */
export type ProgramLanguage = keyof typeof PROGRAM_LANGUAGES;
export const PROGRAM_LANGUAGE_NAMES: Choices<ProgramLanguage> = choicesIn(PROGRAM_LANGUAGES);
