/**
 * The user of each part of a run. Nothing hostile ever runs as root; without root, everything runs as the user.
 *
 * @module
 */
import { DEFAULT_CELL_ID } from '../../src/for-attacks.ts';

export interface Identity {
  uid?: number;
  gid?: number;
}

/** The neighbour has the kernel uid of the cells: the hardest case for the wall. */
export const NEIGHBOUR: number = DEFAULT_CELL_ID;
/** Controls have an id that owns nothing on the machine. */
export const CONTROL: number = 65_433;

export function asUser(id: number): Identity {
  return process.getuid?.() === 0 ? { uid: id, gid: id } : {};
}
