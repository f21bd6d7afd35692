/**
 * Targets for programs.
 *
 * @module
 */
import type { Row } from '../statistics.ts';
import { atMost, withinTimes, type Target } from '../targets.ts';
import { ALONE, BESIDE } from './neighbour.ts';

/** Calls in each sample. */
export const CALLS = 200;

export const HOST = 'from the host';
export const TYPESCRIPT = 'in a TypeScript program';
export const PYTHON = 'in a Python program';
export const COMPONENT = 'a component';
export const PYTHON_SKILL = 'a Python skill';
export const AT_ONCE: string = `${COMPONENT}, at once`;

export const SKILLS: readonly string[] = [COMPONENT, PYTHON_SKILL];
export const PLACES: readonly string[] = [HOST, TYPESCRIPT, PYTHON];

/** What a program without calls is compared with. */
export const FRESH: Readonly<Record<string, string>> = {
  'a TypeScript program without calls': 'a TypeScript skill',
  'a Python program without calls': 'a Python skill that returns its input',
};

const ADDED_MS: Readonly<Record<string, number>> = { [COMPONENT]: 0.3, [PYTHON_SKILL]: 0.5 };
const FRESH_ADDED_MS = 0.5;
const MOST_TIMES = 3;

export function rowName(what: string, place: string): string {
  return `${what}, ${place}`;
}

/** Difference of the medians; NaN for a row without a baseline. */
export function addedMs(rows: readonly Row[], name: string, baseline: string): number {
  const median = (wanted: string): number => rows.find((row) => row.name === wanted)?.median ?? NaN;
  return median(name) - median(baseline);
}

export function checkProgramTargets(rows: readonly Row[]): Target[] {
  const added = (what: string, place: string): number =>
    addedMs(rows, rowName(what, place), rowName(what, HOST));
  return [
    ...Object.entries(ADDED_MS).flatMap(([what, most]) =>
      [TYPESCRIPT, PYTHON].map((place) =>
        atMost(`a call of ${what} ${place} at most ${most} ms over one ${HOST}`, added(what, place), most),
      ),
    ),
    ...Object.entries(FRESH).map(([program, skill]) =>
      atMost(
        `${program} at most ${FRESH_ADDED_MS} ms over ${skill}`,
        addedMs(rows, program, skill),
        FRESH_ADDED_MS,
      ),
    ),
    neighbourTarget(rows),
  ];
}

/** Of the slowest calls: those are what other callers notice. */
function neighbourTarget(rows: readonly Row[]): Target {
  const p95 = (wanted: string): number => rows.find(({ name }) => name === wanted)?.p95 ?? NaN;
  const aim = `p95 of another caller beside a program with thousands of calls at most ${MOST_TIMES} times that without`;
  return withinTimes(aim, p95(BESIDE) / p95(ALONE), MOST_TIMES);
}
