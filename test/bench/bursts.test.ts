import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PAUSE_MS, type Variant } from '../../bench/runner/rounds.ts';
import { measureBursts } from '../../bench/runner/wasm/bursts.ts';

/** A call after a pause takes 100, others 1. */
function variant(name: string, result: unknown = 'same'): Variant {
  let last = -Infinity;
  return {
    name,
    run: async () => {
      const ms = performance.now() - last >= PAUSE_MS / 2 ? 100 : 1;
      last = performance.now();
      return { ms, result };
    },
  };
}

test('the first call after a pause is counted separately from back-to-back calls', async () => {
  const rows = await measureBursts([variant('a'), variant('b')], 3);
  expect(rows).toMatchObject([
    { name: 'a', median: 1, rested: 100 },
    { name: 'b', median: 1, rested: 100 },
  ]);
});

test('a burst of slow calls ends early, but always includes a back-to-back call', async () => {
  const slow: Variant = {
    name: 'slow',
    run: async () => {
      await sleep(40);
      return { ms: 40, result: 1 };
    },
  };
  const [row] = await measureBursts([slow], 1);
  expect(row).toMatchObject({ name: 'slow', n: 1, median: 40, rested: 40 });
});

test('a variant that does not do the job is refused', async () => {
  await expect(measureBursts([variant('a'), variant('b', 'less')], 1)).rejects.toThrow(
    '"b" returned "less" instead of "same"',
  );
});

test('a round skips a variant that takes part in every second one, and each variant rests after a call', async () => {
  let [calls, rests] = [0, 0];
  const counted: Variant = {
    ...variant('a'),
    every: 2,
    run: async () => ({ ms: (calls += 1), result: 1 }),
    rest: async () => void (rests += 1),
  };
  const [often, seldom] = await measureBursts([{ ...variant('b', 1) }, counted], 2);
  expect(often?.n).toBe(2 * (seldom?.n ?? NaN));
  expect(rests).toBe(calls);
});
