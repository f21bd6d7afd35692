import { expect, test } from 'vitest';
import { fuzzInstall, mutant } from '../../../scripts/fuzz-install.ts';
import { corpus } from '../corpus.ts';

const SEED = 20_261_115;

test('five seconds of mutated binaries give nothing but refusals and valid modules', () => {
  const report = fuzzInstall({ corpus: corpus(), seconds: 5, seed: SEED });
  expect(report.findings).toEqual([]);
  expect(report.accepted).toBeGreaterThan(10);
});

test('a seed gives the same input every time', () => {
  expect(mutant(corpus(), SEED)).toEqual(mutant(corpus(), SEED));
  expect(mutant(corpus(), SEED)).not.toEqual(mutant(corpus(), SEED + 1));
});
