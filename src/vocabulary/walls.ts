/**
 * The walls, which enclose a cell's process.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

const WALLS = {
  none: { meaning: 'no wall: the skill runs in the host process' },
  process: { meaning: 'a plain process; the engine itself must isolate the skill' },
  jail: { meaning: 'bubblewrap: namespaces, seccomp, control groups' },
  container: { meaning: 'an OCI runtime or a container engine' },
} as const;

export type WallName = keyof typeof WALLS;

export const WALL_NAMES: Choices<WallName> = choicesIn(WALLS);
