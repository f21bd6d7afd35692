/**
 * The list of aims finds the verdicts of the benches.
 */
import { expect, test } from 'vitest';
import { AIMS, formatAims, judgeAims } from '../../bench/aims.ts';
import type { Target } from '../../bench/runner/targets.ts';
import { formatSpeedAims, savedVerdicts } from '../../scripts/documents/performance-tables.ts';

const target = (aim: string, met: boolean | undefined, found = '1'): Target => ({ aim, met, found });
const verdictOf = (what: RegExp, targets: Target[]): boolean | undefined => {
  const judged = judgeAims({ subprocess: targets, 'python-wasm': targets }).find(({ aim }) =>
    what.test(aim.what),
  );
  return judged?.met;
};

test('an aim with two verdicts is met if both are, missed if one is, and open if one has no figure', () => {
  const rate = '32 callers: at least 500 calls/s';
  const p99 = '32 callers: p99 at most 40 ms';
  expect(verdictOf(/32 callers/, [target(rate, true), target(p99, true)])).toBe(true);
  expect(verdictOf(/32 callers/, [target(rate, true), target(p99, false)])).toBe(false);
  expect(verdictOf(/32 callers/, [target(rate, undefined), target(p99, false)])).toBe(false);
  expect(verdictOf(/32 callers/, [target(rate, undefined), target(p99, true)])).toBeUndefined();
  expect(verdictOf(/32 callers/, [target('8 callers: p99 at most 40 ms', true)])).toBeUndefined();
});

test('separators of thousands make no difference', () => {
  expect(verdictOf(/Wasm, 64 callers/, [target('at least 3,000 calls/s', true)])).toBe(true);
  expect(verdictOf(/Wasm, 64 callers/, [target('at least 3000 calls/s', false)])).toBe(false);
});

test('every aim has a line, also if nothing was measured', () => {
  const lines = formatAims({}).split('\n');
  expect(lines).toHaveLength(AIMS.length + 2);
  expect(lines.filter((line) => line.startsWith('not measured  '))).toHaveLength(AIMS.length);
  expect(lines.at(-1)).toBe(`0 met, 0 missed, ${AIMS.length} not measured in this run.`);
});

test('the list says what was found', () => {
  const text = formatAims({ cli: [target('skillcell --version at most 60 ms', false, '61 ms')] });
  expect(text).toMatch(/^MISSED {8}`skillcell --version`.*: at most 60 ms \(61 ms\)$/m);
});

test('the document says what stands in the way of what is missed, and only of that', () => {
  const cli = (met: boolean): string =>
    formatSpeedAims({ cli: [target('run at most 180 ms', met, '170 ms')] });
  const obstacle = AIMS.find(({ what }) => what.includes('skillcell run'))?.obstacle ?? '';
  expect(obstacle).not.toBe('');
  expect(cli(false)).toContain(`| 170 ms | **missed** | ${obstacle} |`);
  expect(cli(true)).not.toContain(obstacle);
});

test('no verdict of the saved reports belongs to two aims', () => {
  const verdicts = savedVerdicts();
  for (const [bench, targets] of Object.entries(verdicts))
    for (const one of targets ?? []) {
      const judged = judgeAims({ [bench]: [one] }).filter(({ found }) => found !== '');
      expect(judged.length, one.aim).toBeLessThanOrEqual(1);
    }
});

/** As the benches word them. */
const WORDINGS: Readonly<Record<string, readonly string[]>> = {
  subprocess: ['8 callers: p99 at most 40 ms', '32 callers: at least 500 calls/s', 'zygote at most 3 ms'],
  wasm: [
    'TypeScript source at most 0.7 ms',
    'TypeScript source with 64 callers at least 3000 calls/s',
    'C component after a pause at most 0.7 ms',
    'warm process of a C component at most 18 MiB',
    'warm process of TypeScript source at most 32 MiB',
  ],
  'python-wasm': [
    'a call at most 0.8 ms, between others',
    'a call at most 0.4 ms, back to back',
    'at most 0.7 ms of CPU per call, cell and caller together',
    '64 callers at least 3000 calls/s',
    'first call of a new program at most 100 ms',
    'engine prepared on a new machine in at most 2.5 s',
    'a warm process at most 65 MiB (Pss)',
    'sha256 at most 1.5 times native',
    'geometric mean of the kernels at most 1.77 times native',
  ],
  density: ['200 skills, each once a minute: p99 at most 30 ms'],
  cli: ['`skillcell --version` at most 60 ms', '`skillcell run, subprocess` at most 180 ms'],
};

test('each wording of a verdict belongs to one aim, and every aim has one', () => {
  const verdicts = Object.fromEntries(
    Object.entries(WORDINGS).map(([bench, aims]) => [bench, aims.map((aim) => target(aim, true, aim))]),
  );
  const found = judgeAims(verdicts).map((judged) => judged.found);
  expect(found).toHaveLength(AIMS.length);
  expect(found.toSorted()).toEqual(Object.values(WORDINGS).flat().toSorted());
});
