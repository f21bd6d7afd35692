import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { quantile, summarize } from '../../bench/runner/statistics.ts';

test('samples are described in any order', () => {
  expect(summarize('a', [3, 1, 2, 5, 4])).toEqual({ name: 'a', n: 5, median: 3, p95: 4.8, min: 1 });
  expect(summarize('a', [4, 1])).toMatchObject({ median: 2.5, min: 1 });
});

test('no samples give no description', () => {
  expect(summarize('a', [])).toEqual({ name: 'a', n: 0, median: NaN, p95: NaN, min: NaN });
});

test('a quantile is within the range of the samples and grows with the share', () => {
  const samples = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(samples, share, share, (values, a, b) => {
      const [low, high] = [quantile(values, Math.min(a, b)), quantile(values, Math.max(a, b))];
      expect(low).toBeGreaterThanOrEqual(Math.min(...values));
      // Interpolation rounds in the last place.
      expect(low).toBeLessThanOrEqual(high * (1 + 1e-12));
      expect(high).toBeLessThanOrEqual(Math.max(...values) * (1 + 1e-12));
    }),
  );
});
