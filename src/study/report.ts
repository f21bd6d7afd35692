/**
 * The results of a study as data; `format.ts` renders them.
 *
 * @module
 */
import type { Mode } from '../vocabulary/modes.ts';

/** A kind of dependency on where a skill runs. A skill without dependencies is `pure`. */
export type DependencyClass =
  | 'pure'
  | 'native'
  | 'network'
  | 'filesystem'
  | 'import effects'
  | 'state between calls';

/** A dependency of a skill, with the evidence for it. */
export interface Dependency {
  class: DependencyClass;
  /** The evidence, in words. */
  because: string[];
}

/**
 * `works`: every case passes. `fails`: a case fails. `cannot`: the mode cannot run the skill here. `no cases`: it could run,
 * but there are no cases. `out of time`: not every case was run.
 */
export type ModeStatus = 'works' | 'fails' | 'cannot' | 'no cases' | 'out of time';

/** The results of a skill in one mode. */
export interface ModeStudy {
  mode: Mode;
  /** Whether the manifest lists this mode; a manifest without a list allows all. */
  isListed: boolean;
  status: ModeStatus;
  /** Why the mode cannot run the skill. */
  reason?: string;
  engine?: string;
  wall?: string;
  cases: number;
  fitting: number;
  /** Cases that returned a result, as opposed to an expected error. */
  results: number;
  misfits: string[];
  /** Requests that were denied. */
  denied: string[];
  /** Duration of the first call, including the start of a cell, in milliseconds. */
  firstCallMs?: number;
  /** Median duration of further calls, in milliseconds. */
  callMs?: number;
  memoryBytes?: number;
  /** Size of the packages installed for this mode. */
  packageBytes?: number;
}

/** The results of a skill in every mode. */
export interface SkillStudy {
  path: string;
  name: string;
  version?: string;
  /** Digest of the bundle; absent if it could not be read. */
  digest?: string;
  origin?: string;
  language?: string;
  requirements: string[];
  bundleBytes: number;
  dependencies: Dependency[];
  modes: ModeStudy[];
  /** Cases whose answers differ between modes. */
  differences: string[];
  /** Why the skill could not be fully studied, and whether that is a fault of the skill. */
  problem?: { text: string; isFault: boolean };
}

/** A study of a folder of skills. */
export interface StudyReport {
  folder: string;
  date: string;
  skillcell: string;
  machine: { cores: number; cpu: string; memoryBytes: number; kernel: string; node: string; load: number };
  skills: SkillStudy[];
  /** Descriptions of all failures; empty if everything works that should. */
  failures: string[];
}
