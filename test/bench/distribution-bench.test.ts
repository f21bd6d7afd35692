/**
 * The bench of distribution does what it says: every act is really done. Durations are not tested.
 */
import { beforeAll, expect, test } from 'vitest';
import {
  COPY,
  FROZEN,
  LARGE,
  runDistributionBench,
  SMALL,
  type DistributionReport,
} from '../../bench/distribution/run-distribution-bench.ts';
import { formatDistributionReport } from '../../bench/distribution/table.ts';

let report: DistributionReport;
beforeAll(async () => void (report = await runDistributionBench({ rounds: 1 })));

test('every act is measured in its own process', () => {
  expect(report.rows.map(({ name }) => name)).toEqual([SMALL, LARGE, FROZEN, COPY]);
  for (const { wall, own } of report.rows) {
    expect(wall.min).toBeGreaterThan(0);
    expect(own.n).toBe(1);
  }
  // Only a new component is inspected by a program in a cell.
  expect(report.rows[0]?.cell.min).toBeGreaterThan(0);
});

test('the measurements are judged and printed', () => {
  expect(report.targets.map(({ met }) => typeof met)).toEqual(['boolean', 'boolean', 'boolean']);
  const text = formatDistributionReport(report);
  expect(text).toMatch(/^(met {4}|NOT MET) {2}add a skill of 70 KB: at most 150 ms/m);
  expect(text).not.toMatch(/NaN|undefined/);
});
