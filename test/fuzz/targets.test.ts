import { describe, expect, it, onTestFailed } from 'vitest';
import { fuzzTarget } from '../../scripts/fuzz/target.ts';
import { FUZZ_TARGETS } from '../../scripts/fuzz/targets.ts';
import { differenceInBehaviour } from '../../scripts/fuzz/wasm/behaviour.ts';
import { mutatedBinaries } from '../../scripts/fuzz/wasm/binaries.ts';
import { parseModule, wat } from '../wasm/binary/support.ts';
import { rewrite } from '../wasm/install/support.ts';

const FIXED_SEED = 20_261_115;
const SUITE_RUNS = 300;
/** It only ends a hang: the number of runs bounds a target. */
const SECONDS = 240;

describe.each(FUZZ_TARGETS)('the fuzz target $name', (target) => {
  const runs = target.suiteRuns ?? SUITE_RUNS;

  it('finds nothing with the fixed seed, and accepts some inputs', async () => {
    const report = await target.run({ seconds: SECONDS, seed: FIXED_SEED, runs });
    expect(report.findings).toEqual([]);
    expect(report.runs).toBe(runs);
    expect(report.accepted).toBeGreaterThan(0);
    expect(report.accepted).toBeLessThan(runs);
  });

  it('finds nothing with a fresh seed', async () => {
    const seed = Date.now() % 2 ** 31;
    console.log(`fuzz target ${target.name}: fresh seed ${seed}, ${runs} runs`);
    onTestFailed(() =>
      console.log(`Reproduce it: npm run fuzz -- --only ${target.name} --seed ${seed} --runs ${runs}`),
    );
    const report = await target.run({ seconds: SECONDS, seed, runs });
    // A finding of a random seed must not be retried.
    if (report.findings.length > 0)
      throw new Error(`Property failed: ${JSON.stringify(report.findings, null, 2)}`);
  });
});

it('every fuzz target has a unique name', () => {
  const names = FUZZ_TARGETS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

it('a failed check is reported with the seed that reproduces it', async () => {
  const target = fuzzTarget({
    name: 'odd',
    input: (seed) => seed,
    check: (seed) => {
      if (seed === 12) throw new Error('twelve');
      return seed % 2 === 0;
    },
  });
  const report = await target.run({ seconds: 60, seed: 10, runs: 4 });
  expect(report).toMatchObject({ runs: 4, accepted: 2, findings: [{ seed: 12 }] });
  expect(report.findings[0]?.what).toContain('twelve');
});

it('a seed always gives the same input', () => {
  const input = mutatedBinaries();
  expect(input(FIXED_SEED)).toEqual(input(FIXED_SEED));
  expect(input(FIXED_SEED)).not.toEqual(input(FIXED_SEED + 1));
});

it('fuzzing detects a module that behaves differently when it is metered', () => {
  const module = (result: number): Uint8Array =>
    wat(`(module (func (export "run") (result i32) (i32.const ${result})))`);
  expect(differenceInBehaviour(parseModule(module(1)), rewrite(module(2)))).toContain('returned 1');
  expect(differenceInBehaviour(parseModule(module(1)), rewrite(module(1)))).toBeUndefined();
});
