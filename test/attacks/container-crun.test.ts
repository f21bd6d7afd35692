/**
 * The attacks that the wall itself must stop, in containers of an OCI runtime.
 *
 * @module
 */
import { expect, it } from 'vitest';
import { SUBPROCESS_ATTACKS } from '../../attacks/runner/subprocess-attacks.ts';
import { attackContainers } from './container.ts';
import { ON_THE_WALL } from './on-the-wall.ts';

attackContainers({ make: 'crun', names: ON_THE_WALL });

it('the list names enough attacks, and all of them exist', () => {
  const known = new Set(SUBPROCESS_ATTACKS.map(({ name }) => name));
  expect(ON_THE_WALL.filter((name) => !known.has(name))).toEqual([]);
  expect(new Set(ON_THE_WALL).size).toBeGreaterThanOrEqual(60);
});
