/**
 * The attacks on jails, in containers of one backend: none gets further.
 *
 * @module
 */
import { describe } from 'vitest';
import { SUBPROCESS_ATTACKS } from '../../attacks/runner/subprocess-attacks.ts';
import type { BackendName } from '../../src/cell/walls/container/contract.ts';
import { seedImages } from '../cell/images/base-image.ts';
import { itStops, suiteHome } from './suite.ts';

export interface ContainerAttacks {
  make: BackendName;
  names: readonly string[];
  dockerSocket?: string;
}

export function attackContainers({ make, names, dockerSocket }: ContainerAttacks): void {
  const container = { makes: [make], ...(dockerSocket === undefined ? {} : { dockerSocket }) };
  const attacks = SUBPROCESS_ATTACKS.filter(({ name }) => names.includes(name));
  describe(`in containers of ${make}`, () => {
    itStops({
      mode: 'container',
      attacks,
      home: suiteHome(),
      lanes: 2,
      runtime: { pool: { size: 0 }, container },
      furnish: seedImages,
    });
  });
}
