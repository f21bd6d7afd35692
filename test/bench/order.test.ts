/**
 * The order of the variants in a round.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { shuffled } from '../../bench/runner/rounds.ts';

const VARIANTS = Array.from({ length: 12 }, (_, at) => at);
const ROUNDS = 200;

test('each round has every variant once, in the same order in every run', () => {
  for (let round = 0; round < ROUNDS; round++) {
    expect(shuffled(VARIANTS, round).toSorted((a, b) => a - b)).toEqual(VARIANTS);
    expect(shuffled(VARIANTS, round)).toEqual(shuffled(VARIANTS, round));
  }
});

test('each variant follows every other one, none much more often than the others', () => {
  const followed = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const order = shuffled(VARIANTS, round);
    for (let at = 1; at < order.length; at++) {
      const pair = `${order[at - 1]} before ${order[at]}`;
      followed.set(pair, (followed.get(pair) ?? 0) + 1);
    }
  }
  expect(followed.size).toBe(VARIANTS.length * (VARIANTS.length - 1));
  // On average 17 times.
  expect(Math.max(...followed.values())).toBeLessThan(40);
});
