import { expect, test } from 'vitest';
import { differenceInBehaviour } from '../../../scripts/fuzz-behaviour.ts';
import { fuzzInstall, mutant } from '../../../scripts/fuzz-install.ts';
import { parseModule, wat } from '../binary/support.ts';
import { corpus } from '../corpus.ts';
import { rewrite } from './support.ts';

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

test('a module that does something else when it is metered would be found', () => {
  const module = (result: number): Uint8Array =>
    wat(`(module (func (export "run") (result i32) (i32.const ${result})))`);
  expect(differenceInBehaviour(parseModule(module(1)), rewrite(module(2)))).toContain('returned 1');
  expect(differenceInBehaviour(parseModule(module(1)), rewrite(module(1)))).toBeUndefined();
});
