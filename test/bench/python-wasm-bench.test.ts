/**
 * The bench of Python in Wasm measures what it says, and every variant does the same job. Durations are not tested.
 */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import {
  runPythonWasmBench,
  type PythonWasmReport,
} from '../../bench/runner/python-wasm/run-python-wasm-bench.ts';
import { formatPythonWasmReport } from '../../bench/runner/python-wasm/table.ts';

const OURS = ['Python in Wasm, jail', 'Python in Wasm, process', 'Python in Wasm, jail per call'];
const NATIVE = ['cold jail', 'pool', 'zygote', 'plain python3', 'plain python3 -I -S'];

let report: PythonWasmReport;

beforeAll(async () => {
  const images = [{ name: 'some data', code: 'DATA = [bytes((at,)) * 4096 for at in range(256)]' }];
  const kernels = [{ kernel: 'sort', size: 50 }];
  report = await runPythonWasmBench({ rounds: 1, seconds: 0.1, images, kernels });
});

test('both jobs are measured with both walls, a process per call and native Python', () => {
  expect(report.jobs.map(({ rows }) => rows.map((row) => row.name))).toEqual([
    [...OURS, ...NATIVE],
    [...OURS, ...NATIVE],
  ]);
  for (const row of report.jobs.flatMap(({ rows }) => rows)) expect(row.min).toBeGreaterThan(0);
});

test('the preparation of the engine is measured, and no call fails', () => {
  expect(report.start.engineBytes).toBeGreaterThan(10_000_000);
  expect(report.start.prepareMs).toBeGreaterThan(report.start.firstCallMs);
  expect(report.crowd.throughput).toMatchObject({ callers: 64, failed: 0 });
  expect(report.crowd.cellBytes).toBeGreaterThan(10_000_000);
  expect(report.crowd.cpu.hostMs).toBeGreaterThan(0);
});

test('images and kernels are measured', () => {
  expect(report.images).toMatchObject([{ image: 'some data' }]);
  expect(report.kernels).toMatchObject([{ kernel: 'sort' }]);
  expect(report.kernels[0]?.ratio).toBeGreaterThan(0);
});

test('the report has a line for each row and target', () => {
  const text = formatPythonWasmReport(report);
  for (const name of [...OURS, ...NATIVE]) {
    expect(text.match(new RegExp(`^${name} +\\d`, 'gm'))).toHaveLength(2);
  }
  expect(text).toMatch(/^(met {4}|NOT MET) {2}a call at most 0\.8 ms, between others: [\d.]+ ms$/m);
  expect(text).toMatch(/^ {9}at least 1000 times as fast as cold Pyodide: not measured$/m);
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});

test('the benchmark leaves no folder behind', () => {
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(`skillcell-bench-${process.pid}`));
  expect(left).toEqual([]);
});
