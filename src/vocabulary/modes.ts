/**
 * The execution modes. `strength` ranks them by their separation from the host.
 *
 * @module
 */
import { choicesIn, choicesOf, type Choices } from './table.ts';

interface ModeRow {
  /** Degree of separation from the host; `minimum` in a policy compares it. */
  strength: 0 | 1 | 2;
  /** Order in which modes are tried if the manifest names none; lowest first. */
  preference: number;
  meaning: string;
}

export const MODES = {
  in_process: { strength: 0, preference: 4, meaning: 'in the host process, without isolation' },
  subprocess: { strength: 1, preference: 2, meaning: 'a process in an OS jail' },
  wasm: { strength: 2, preference: 1, meaning: 'WebAssembly, inside a jail where available' },
  container: { strength: 1, preference: 3, meaning: 'a container created from an image' },
} as const;

/** An execution mode. */
export type Mode = keyof typeof MODES;
/** Modes with a wall around the skill. */
export type IsolatedMode = Exclude<Mode, 'in_process'>;

const ROWS: Readonly<Record<Mode, ModeRow>> = MODES;

export const MODE_NAMES: Choices<Mode> = choicesIn(MODES);

export const ISOLATED_MODES: Choices<IsolatedMode> = choicesOf(MODE_NAMES.filter((mode) => isIsolated(mode)));

/** In the order in which they are tried. */
export const PREFERRED_MODES: readonly Mode[] = MODE_NAMES.toSorted(
  (a, b) => ROWS[a].preference - ROWS[b].preference,
);

/** Values of a manifest's `execution_mode`, a key of Skillware: demands on the mode, where `execution` is a preference. */
const EXECUTION_DEMANDS = {
  isolated: { meaning: 'at least a jail or a container around the skill, whatever a caller asks for' },
} as const;

export type ExecutionDemand = keyof typeof EXECUTION_DEMANDS;

export const EXECUTION_DEMAND_NAMES: Choices<ExecutionDemand> = choicesIn(EXECUTION_DEMANDS);

export function isIsolated(mode: Mode): mode is IsolatedMode {
  return ROWS[mode].strength > 0;
}
