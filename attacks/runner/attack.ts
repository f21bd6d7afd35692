/**
 * Fields of every attack, whatever it attacks: which answers it may get, and how it is shown to work without a wall.
 *
 * @module
 */
import type { ErrorCode, LimitName } from '../../src/for-attacks.ts';

/** How the control room determines that an attack worked; each is a function of room/judge.py. */
export type Judge =
  | 'reports'
  | 'chokes-reader'
  | 'stalls-check'
  | 'forges-stdout'
  | 'hangs'
  | 'floods'
  | 'no-reply'
  | 'kills-neighbour'
  | 'outlives';

/** Why there is nothing to show outside a cell. */
export interface NoControl {
  none: string;
}

/** `Control` is how the attack is shown to work without a wall. */
export interface Attack<Control = { judge: Judge }> {
  name: string;
  /** `ok` stands for a call that succeeded although the attack did not work. */
  codes: readonly (ErrorCode | 'ok')[];
  /** With `resource_exceeded`: the limits that may have been hit. */
  limits: readonly LimitName[];
  /** Parts of messages with which the wall makes it fail, if they look like a bug in the attack. */
  failsWith?: readonly string[];
  /** The answer must name the refused byte. */
  namesByte?: boolean;
  control: Control | NoControl;
}

/** The answers that an attack may get. */
export type Expected = Omit<Attack, 'name' | 'control'>;

export function hasControl({ control }: Pick<Attack<unknown>, 'control'>): boolean {
  return !(typeof control === 'object' && control !== null && 'none' in control);
}
