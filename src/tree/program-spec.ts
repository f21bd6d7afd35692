/**
 * What a program may use, as the call that runs it is told.
 *
 * @module
 */
import type { TreeLimits } from './budget.ts';
import type { LentFunctions } from './functions.ts';

export interface ProgramSpec {
  /** sha256 of its source. */
  digest: string;
  /** It runs as a process in a jail, not in Wasm. */
  isNative?: boolean;
  /** Patterns of the skills that it may call. */
  skills: readonly string[];
  functions?: LentFunctions | undefined;
  limits: Partial<TreeLimits>;
  /** Called before each call of a skill inside; what it throws refuses the call. */
  charge?: ((skill: string) => void) | undefined;
}
