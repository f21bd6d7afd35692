/**
 * The bench of programs does what it says: every way is really taken. Durations are not tested.
 */
import { beforeAll, expect, test } from 'vitest';
import { runProgramBench, type ProgramReport } from '../../bench/runner/programs/run-program-bench.ts';
import { ALONE, BESIDE } from '../../bench/runner/programs/neighbour.ts';
import { PROGRAM_PEERS } from '../../bench/program-peers.ts';
import { formatProgramReport } from '../../bench/runner/programs/table.ts';
import {
  addedMs,
  AT_ONCE,
  checkProgramTargets,
  FRESH,
  HOST,
  PLACES,
  rowName,
  SKILLS,
} from '../../bench/runner/programs/targets.ts';

let report: ProgramReport;
beforeAll(
  async () => void (report = await runProgramBench({ rounds: 1, peers: PROGRAM_PEERS, callsBeside: 40 })),
);

test('every place and both languages are measured next to the host', () => {
  const called = [...SKILLS, AT_ONCE].flatMap((what) => PLACES.map((place) => rowName(what, place)));
  expect(report.rows.map(({ name }) => name).toSorted()).toEqual(
    [
      ...called,
      ...Object.keys(FRESH),
      ALONE,
      BESIDE,
      ...Object.values(FRESH),
      ...PROGRAM_PEERS.map(({ name }) => name),
    ].toSorted(),
  );
  for (const row of report.rows) expect(row.min).toBeGreaterThan(0);
});

test('the measurements are judged and printed', () => {
  expect(report.targets.map(({ met }) => typeof met)).toEqual(Array.from({ length: 7 }, () => 'boolean'));
  expect(formatProgramReport(report)).not.toMatch(/NaN|undefined/);
});

test('a call that costs too much is reported', () => {
  const row = (name: string, median: number) => ({ name, n: 1, median, p95: 1, min: 1 });
  const [what = ''] = SKILLS;
  const rows = PLACES.map((place) => row(rowName(what, place), place === HOST ? 1 : 1.2));
  expect(addedMs(rows, rows[1]?.name ?? '', rows[0]?.name ?? '')).toBeCloseTo(0.2);
  expect(
    checkProgramTargets(rows)
      .map(({ met }) => met)
      .slice(0, 2),
  ).toEqual([true, true]);
  const slow = rows.map(({ name, median }) => row(name, median === 1 ? 1 : 2));
  expect(
    checkProgramTargets(slow)
      .map(({ met }) => met)
      .slice(0, 2),
  ).toEqual([false, false]);
});
