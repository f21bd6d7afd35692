/**
 * The place where a call runs: mode, wall and engine.
 *
 * @module
 */
import type { EngineName } from './engines.ts';
import type { Mode } from './modes.ts';
import type { WallName } from './walls.ts';

/** An engine behind a wall, and the mode that the two form. */
export interface Place {
  mode: Mode;
  wall: WallName;
  engine: EngineName;
}

/** For people, e.g. `jail + python`. */
export function placeName({ wall, engine }: Pick<Place, 'wall' | 'engine'>): string {
  return `${wall} + ${engine}`;
}
