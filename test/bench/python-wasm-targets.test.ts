import { expect, test } from 'vitest';
import { checkKernelTargets, checkPythonWasmTargets } from '../../bench/runner/python-wasm/targets.ts';
import type { Row } from '../../bench/runner/statistics.ts';

function row(name: string, median: number, p95: number = median): Row {
  return { name, n: 1, median, p95, min: median };
}

const THROUGHPUT = { callers: 64, seconds: 1, medianMs: 1, p99Ms: 2, starts: {} };
const START = { prepareMs: 2400, firstCallMs: 101 };
const CROWD = {
  cpu: { calls: 10, cellMs: 0.5, hostMs: 0.3 },
  tightMs: 0.3,
  throughput: { ...THROUGHPUT, callsPerSecond: 3500, failed: 0 },
  cellBytes: 66 * 1024 ** 2,
};
const ROWS = [
  row('Python in Wasm, jail', 1.2, 7),
  row('pool', 0.3),
  row('plain python3', 24),
  row('Pyodide, cold', 1300),
  row('Pyodide, from a snapshot', 84),
];

test('every figure is judged', () => {
  const judged = checkPythonWasmTargets({ rows: ROWS, start: START, crowd: CROWD }).map(({ met, found }) => [
    met,
    found,
  ]);
  expect(judged).toEqual([
    [false, '1.20 ms'],
    [true, '0.30 ms'],
    [false, '7.00 ms'],
    [false, '0.80 ms'],
    [true, '3500 calls/s'],
    [false, '101.00 ms'],
    [true, '2.40 s'],
    [false, '66.0 MiB'],
    [true, '1083.3 times'],
    [false, '70.0 times'],
    [true, '20.0 times'],
    [false, '4.00 times'],
  ]);
});

test('the other verdicts are possible too', () => {
  const crowd = {
    cpu: { calls: 10, cellMs: 0.4, hostMs: 0.3 },
    tightMs: 0.41,
    throughput: { ...THROUGHPUT, callsPerSecond: 3500, failed: 1 },
    cellBytes: 65 * 1024 ** 2,
  };
  const judged = checkPythonWasmTargets({ rows: [], start: { prepareMs: 2501, firstCallMs: 100 }, crowd });
  expect(judged.map(({ met }) => met).filter((met) => met !== undefined)).toEqual([
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
});

test('targets without a measurement are not judged', () => {
  const crowd = { ...CROWD, cellBytes: undefined };
  const judged = checkPythonWasmTargets({ rows: [], start: START, crowd });
  expect(judged.filter(({ met }) => met === undefined).map(({ found }) => found)).toEqual(
    Array(7).fill('not measured'),
  );
});

test.each([
  [1.5, true],
  [1.51, false],
])('sha256 that takes %f times as long as native is judged', (ratio, met) => {
  const kernels = [
    { kernel: 'calls', ratio: 9 },
    { kernel: 'sha256', ratio },
  ];
  expect(checkKernelTargets(kernels).map((target) => target.met)).toEqual([met]);
  expect(checkKernelTargets([]).map((target) => target.met)).toEqual([undefined]);
});
