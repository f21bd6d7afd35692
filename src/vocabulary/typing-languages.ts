/**
 * The languages in which skills are described to a model that writes a program.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

export const TYPING_LANGUAGES = {
  typescript: 'declarations of `skills.<category>.<name>(params)` with comments',
  python: 'stubs of `skills.<category>.<name>(…)` with docstrings',
} as const;

/** A language in which skills are described to a model. */
export type TypingLanguage = keyof typeof TYPING_LANGUAGES;

export const TYPING_LANGUAGE_NAMES: Choices<TypingLanguage> = choicesIn(TYPING_LANGUAGES);
