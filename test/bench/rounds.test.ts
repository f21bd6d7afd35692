import { expect, test } from 'vitest';
import { measureRounds, type Variant } from '../../bench/runner/rounds.ts';

function variant(name: string, calls: string[], result: unknown = 'same'): Variant {
  return {
    name,
    run: async () => {
      calls.push(name);
      return { ms: calls.length, result, parts: { half: calls.length / 2 } };
    },
    rest: async () => void calls.push(`${name} rests`),
  };
}

test('every variant runs once per round, the first round in the given order, and each run is followed by a rest', async () => {
  const calls: string[] = [];
  await measureRounds([variant('a', calls), variant('b', calls)], 1);
  const order = calls.filter((call) => !call.endsWith('rests'));
  expect(order.slice(0, 2)).toEqual(['a', 'b']);
  for (const at of [0, 2, 4]) expect(order.slice(at, at + 2).toSorted()).toEqual(['a', 'b']);
  expect(calls.slice(0, 4)).toEqual(['a', 'a rests', 'b', 'b rests']);
});

test('warm-up rounds are left out, and each measure has a row', async () => {
  const rows = await measureRounds([variant('a', []), variant('b', [])], 3);
  expect(rows.map(({ name, n }) => [name, n])).toEqual([
    ['a', 3],
    ['a, half', 3],
    ['b', 3],
    ['b, half', 3],
  ]);
});

test('a variant that does not do the job is refused', async () => {
  await expect(measureRounds([variant('a', []), variant('b', [], 'less')], 1)).rejects.toThrow(
    '"b" returned "less" instead of "same"',
  );
});
