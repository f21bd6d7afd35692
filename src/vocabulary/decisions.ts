/**
 * What an operator's rules answer about a skill or a call.
 *
 * @module
 */
import { choicesIn, mapTable, type Choices } from './table.ts';

const DECISIONS = {
  allow: { strictness: 0 },
  deny: { strictness: 2 },
  ask: { strictness: 1 },
} as const;

export type Decision = keyof typeof DECISIONS;

export const DECISION_NAMES: Choices<Decision> = choicesIn(DECISIONS);

/** Of several decisions, the strictest counts. */
export const STRICTNESS: Readonly<Record<Decision, number>> = mapTable(
  DECISIONS,
  (_, { strictness }) => strictness,
);
