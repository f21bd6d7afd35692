/**
 * The kinds of skill: how a bundle is used.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

export const KINDS = {
  function: { meaning: 'an entry with an `execute` function: parameters in, a result out' },
  script: { meaning: 'an Agent Skills folder: a call is a command that runs one of its scripts' },
  instructions: { meaning: 'an Agent Skills folder with texts for the model only; nothing in it runs' },
} as const;

export type Kind = keyof typeof KINDS;

export const KIND_NAMES: Choices<Kind> = choicesIn(KINDS);
