import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { padComponent } from '../../bench/runner/wasm/sizes.ts';
import { install } from '../../guest/wasm/install/plan.ts';
import { packageRoot } from '../../src/inside.ts';

const original = readFileSync(join(packageRoot(), 'skills', 'text', 'word_stats_c', 'skill.wasm'));

test.each([1, 100_000, 1_000_000])('a component that grew by %i bytes installs as before', (added) => {
  const padded = padComponent(original, original.length + added);
  expect(padded.length).toBeGreaterThanOrEqual(original.length + added - 4098);
  expect(padded.length).toBeLessThan(original.length + added + 8200);
  const before = install(original, { maxPages: 100 }).plan;
  const after = install(padded, { maxPages: 100 }).plan;
  expect(after.component).toEqual(before.component);
  expect(after.modules[0]?.functions).toBeGreaterThan(before.modules[0]?.functions ?? 0);
});

test('a file that is not a component of one module is refused', () => {
  expect(() => padComponent(original.subarray(0, 8), 100)).toThrow();
});
