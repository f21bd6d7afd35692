/**
 * The attacks that the wall itself has to stop, in containers of gVisor.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS_DIR } from '../../attacks/runner/places.ts';
import { attackContainers } from './container.ts';
import { ON_THE_WALL } from './on-the-wall.ts';

/** It counts no processes, so a skill that declares some is refused before it runs: no attack to stop. */
function declaresProcesses(name: string): boolean {
  const manifest = join(ATTACKS_DIR, 'subprocess', name, 'manifest.yaml');
  return readFileSync(manifest, 'utf8').includes('processes:');
}

/** Comes to nothing as well, with another answer: the attack looks, and finds no 32-bit calls. */
const OTHER_ANSWER = 'call_32_bit_kernel';

/** Timers are those of its own kernel: as many as it likes, and none of them is taken from a user of the host. */
const NOTHING_SHARED = 'take_all_timers';

const NAMES = ON_THE_WALL.filter(
  (name) => !declaresProcesses(name) && name !== OTHER_ANSWER && name !== NOTHING_SHARED,
);

attackContainers({ make: 'runsc', names: NAMES });
