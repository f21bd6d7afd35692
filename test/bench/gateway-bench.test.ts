/**
 * The bench of the gateway does what it says: every way is really taken. Durations are not tested.
 */
import { beforeAll, expect, test } from 'vitest';
import { runGatewayBench, type GatewayReport } from '../../bench/runner/gateway/run-gateway-bench.ts';
import { formatGatewayReport } from '../../bench/runner/gateway/table.ts';
import { addedMs, checkGatewayTargets, DIRECT_OF } from '../../bench/runner/gateway/targets.ts';

let report: GatewayReport;
beforeAll(async () => void (report = await runGatewayBench({ rounds: 1, seconds: 0.3 })));

test('every route is measured next to the one it is compared with', () => {
  const names = report.rows.map(({ name }) => name);
  expect(names.toSorted()).toEqual(
    [...new Set([...Object.keys(DIRECT_OF), ...Object.values(DIRECT_OF)])].toSorted(),
  );
  for (const row of report.rows) {
    expect(row.n).toBe(20);
    expect(row.min).toBeGreaterThan(0);
  }
});

test('all requests pass through one gateway without a failure', () => {
  expect(report.load.served).toBeGreaterThan(0);
  expect(report.load.failed).toBe(0);
});

test('the measurements are judged and printed', () => {
  expect(report.targets.map(({ met }) => typeof met)).toEqual(['boolean', 'boolean', 'boolean', 'boolean']);
  const text = formatGatewayReport(report);
  expect(text).toMatch(/^(met {4}|NOT MET) {2}500 requests\/s through one gateway/m);
  expect(text).not.toMatch(/NaN|undefined/);
});

test('a failed request and a median that is too high are reported', () => {
  const row = (name: string, median: number) => ({ name, n: 1, median, p95: 1, min: 1 });
  const [[name, direct]] = Object.entries(DIRECT_OF) as [[string, string]];
  const rows = [row(name, 5), row(direct, 1)];
  expect(addedMs(rows, name)).toBe(4);
  const load = { workers: 1, requestsPerSecond: 900, served: 900, failed: 1 };
  const met = checkGatewayTargets(rows, load).map((target) => target.met);
  expect(met).toEqual([false, undefined, undefined, false]);
});
