/**
 * The bench of growth measures what it says. Durations are not tested.
 */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { GROWTH_JOBS } from '../../bench/growth/engines.ts';
import { runGrowthBench, type GrowthReport } from '../../bench/growth/run-growth.ts';
import { formatGrowthReport } from '../../bench/growth/table.ts';
import { growthPlots } from '../../scripts/documents/growth-plots.ts';
import { formatGrowthCallers, formatGrowthSkills } from '../../scripts/documents/performance-tables.ts';

const ENGINES = ['native Python', 'component (C)', 'TypeScript', 'Python in Wasm'];

let report: GrowthReport;

beforeAll(async () => {
  report = await runGrowthBench({
    ...{ rounds: 1, seconds: 0.1 },
    ...{ callers: [1, 3], skills: [1, 3], mebibytes: [0, 1], addedBytes: [1, 100_000] },
  });
});

test('every engine is called by every number of callers, and no call fails', () => {
  expect(report.callers.map(({ engine, callers }) => [engine, callers])).toEqual(
    ENGINES.flatMap((engine) => [1, 3].map((callers) => [engine, callers])),
  );
  for (const row of report.callers) {
    expect(row).toMatchObject({ failed: 0 });
    expect(row.callsPerSecond).toBeGreaterThan(0);
    expect(row.p99Ms).toBeGreaterThanOrEqual(row.p50Ms);
  }
});

test('each skill of a runtime has a process of its own, and its memory is counted', () => {
  expect(report.skills.map(({ engine, skills }) => [engine, skills])).toEqual(
    ['component (C)', 'Python in Wasm'].flatMap((engine) => [1, 3].map((skills) => [engine, skills])),
  );
  for (const row of report.skills) {
    expect(row.warm.calls + row.started.calls).toBeGreaterThan(0);
    expect(row.processes).toBeGreaterThanOrEqual(row.skills);
    expect(row.cellBytes).toBeGreaterThan(row.skills * 5_000_000);
  }
});

test('larger images and components are measured', () => {
  expect(report.images.map(({ mebibytes }) => mebibytes)).toEqual([0, 1]);
  const [small, large] = report.sizes;
  expect(large?.bytes).toBeGreaterThan((small?.bytes ?? NaN) + 90_000);
});

test('the report can be printed, put into tables and plotted', () => {
  const text = formatGrowthReport(report);
  for (const engine of ENGINES) expect(text).toContain(`\n${engine} `);
  const tables = [formatGrowthCallers(report), formatGrowthSkills(report)];
  const plots = Object.values(growthPlots(report));
  expect(plots).toHaveLength(6);
  for (const shown of [text, ...tables, ...plots]) expect(shown).not.toMatch(/NaN|undefined|Infinity/);
  expect(GROWTH_JOBS.map(({ name }) => name)).toEqual(ENGINES);
});

test('the benchmark leaves no folder behind', () => {
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(`skillcell-bench-${process.pid}`));
  expect(left).toEqual([]);
});
