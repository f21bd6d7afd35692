/**
 * The attacks that the wall itself has to stop, in containers of an OCI runtime.
 *
 * @module
 */
import { expect, it } from 'vitest';
import { ATTACKS } from '../../attacks/runner/expectations.ts';
import { attackContainers } from './container.ts';
import { ON_THE_WALL } from './on-the-wall.ts';

attackContainers({ make: 'crun', names: ON_THE_WALL });

it('names attacks that there are, and enough of them', () => {
  const known = new Set(ATTACKS.map(({ name }) => name));
  expect(ON_THE_WALL.filter((name) => !known.has(name))).toEqual([]);
  expect(new Set(ON_THE_WALL).size).toBeGreaterThanOrEqual(60);
});
