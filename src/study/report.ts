/**
 * What a study found, as data. `format.ts` makes a page of it.
 *
 * @module
 */
import type { Mode } from '../outcome.ts';

/** In the order of columns. */
export const STUDIED_MODES: readonly Mode[] = ['wasm', 'subprocess', 'container', 'in_process'];

/** What keeps a skill from running everywhere alike. A skill with none of the others is `pure`. */
export type DependencyClass =
  | 'pure'
  | 'native'
  | 'network'
  | 'filesystem'
  | 'import effects'
  | 'state between calls';

export interface Dependency {
  class: DependencyClass;
  /** Where that is known from, in words. */
  because: string[];
}

/**
 * `works`: every case fits. `fails`: one does not. `cannot`: the mode cannot run the skill here. `no cases`: it could, but
 * there is nothing to try. `out of time`: it was not tried, or not to the end.
 */
export type ModeStatus = 'works' | 'fails' | 'cannot' | 'no cases' | 'out of time';

export interface ModeStudy {
  mode: Mode;
  /** Whether the skill says that it runs there; one that lists no mode does so of all. */
  isListed: boolean;
  status: ModeStatus;
  /** Why it cannot. */
  reason?: string;
  engine?: string;
  wall?: string;
  cases: number;
  fitting: number;
  /** Cases that gave a result, as opposed to an expected error. */
  results: number;
  misfits: string[];
  /** What calls asked for and did not get. */
  denied: string[];
  /** The first call with a cell that had to be started; a median of further ones; in milliseconds. */
  firstCallMs?: number;
  callMs?: number;
  memoryBytes?: number;
  /** Packages as installed for this mode. */
  packageBytes?: number;
}

export interface SkillStudy {
  path: string;
  name: string;
  version?: string;
  origin?: string;
  language?: string;
  requirements: string[];
  bundleBytes: number;
  dependencies: Dependency[];
  modes: ModeStudy[];
  /** Cases whose answers differ between modes. */
  differences: string[];
  /** What stands in the way of studying it at all, and whether that is a fault of the skill. */
  problem?: { text: string; isFault: boolean };
}

export interface StudyReport {
  folder: string;
  date: string;
  skillcell: string;
  machine: { cores: number; cpu: string; memoryBytes: number; kernel: string; node: string; load: number };
  skills: SkillStudy[];
  /** In words; empty when everything that should work does. */
  failures: string[];
}
