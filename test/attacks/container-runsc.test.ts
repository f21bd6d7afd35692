/**
 * The attacks that the wall itself must stop, in gVisor containers.
 *
 * @module
 */
import { readAttack } from '../../attacks/runner/attack-source.ts';
import { attackContainers } from './container.ts';
import { ON_THE_WALL } from './on-the-wall.ts';

/** It does not count processes, so a skill that declares some is refused before it runs: there is no attack to stop. */
function declaresProcesses(name: string): boolean {
  const { limits } = readAttack('subprocess', name).manifest as { limits?: { processes?: number } };
  return limits?.processes !== undefined;
}

/** Has no effect either, with another answer: the attack looks for 32-bit calls and finds none. */
const OTHER_ANSWER = 'call_32_bit_kernel';

/** Its timers belong to its own kernel, so they are not taken from a user of the host. */
const NOTHING_SHARED = 'take_all_timers';

const NAMES = ON_THE_WALL.filter(
  (name) => !declaresProcesses(name) && name !== OTHER_ANSWER && name !== NOTHING_SHARED,
);

attackContainers({ make: 'runsc', names: NAMES });
