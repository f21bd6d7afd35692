/**
 * The bench does what it says: every way to get a cell is really taken. Durations are not tested.
 */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { runBench, type BenchReport } from '../../bench/runner/run-bench.ts';
import { formatReport } from '../../bench/runner/table.ts';

let report: BenchReport;

beforeAll(async () => {
  report = await runBench({ rounds: 2, seconds: 0.2 });
});

test('both jobs are measured with plain Python and the three ways to start a cell', () => {
  const names = ['plain python3', 'plain python3 -I -S', 'cold jail', 'pool', 'zygote'];
  expect(report.jobs.map(({ rows }) => rows.map((row) => row.name))).toEqual([names, names]);
  for (const row of report.jobs.flatMap(({ rows }) => rows)) {
    expect(row.n).toBe(2);
    expect(row.min).toBeGreaterThan(0);
  }
});

test('no call fails at full load', () => {
  expect(report.crowds.map(({ callers }) => callers)).toEqual([8, 32]);
  for (const { callsPerSecond, failed } of report.crowds) {
    expect(callsPerSecond).toBeGreaterThan(0);
    expect(failed).toBe(0);
  }
});

test('only measured targets are judged', () => {
  const measured = report.targets.map(({ met }) => met !== undefined);
  expect(measured).toEqual([true, true, true, false, false, true, true, true, true]);
});

test('the report has a line for each row and target', () => {
  const text = formatReport(report);
  expect(text.match(/^zygote /gm)).toHaveLength(2);
  expect(text).toMatch(/^(met {4}|NOT MET) {2}pool at most 2 ms: [\d.]+ ms$/m);
  expect(text).toMatch(/^(met {4}|NOT MET) {2}8 callers: at least 500 calls\/s: \d+ calls\/s$/m);
  expect(text).toMatch(/^(met {4}|NOT MET) {2}32 callers: p99 at most 40 ms: [\d.]+ ms$/m);
  expect(text).not.toMatch(/NaN|undefined/);
});

test('the benchmark leaves no folder behind', () => {
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`skillcell-bench-${process.pid}`))).toEqual(
    [],
  );
});
