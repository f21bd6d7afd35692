/**
 * The origins of skills, most trusted first.
 *
 * @module
 */
import type { Mode } from './modes.ts';
import { mapTable, namesOf } from './table.ts';

interface OriginRow {
  /** Weakest mode for skills of this origin, unless the policy sets another. */
  minimum: Mode;
  meaning: string;
}

const ORIGINS = {
  bundled: { minimum: 'in_process', meaning: 'shipped with Skillcell' },
  project: { minimum: 'subprocess', meaning: 'in the folder of the project' },
  installed: { minimum: 'subprocess', meaning: "in the user's folder of skills" },
  external: { minimum: 'subprocess', meaning: 'anywhere else' },
  generated: { minimum: 'subprocess', meaning: 'a program that came with its call' },
} as const;

export type Origin = keyof typeof ORIGINS;

const ROWS: Readonly<Record<Origin, OriginRow>> = ORIGINS;

export const ORIGIN_NAMES: readonly Origin[] = namesOf(ORIGINS);
export const DEFAULT_MINIMUM: Readonly<Record<Origin, Mode>> = mapTable(ROWS, (_, row) => row.minimum);
