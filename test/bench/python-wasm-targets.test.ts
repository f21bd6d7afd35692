import { expect, test } from 'vitest';
import { checkKernelTargets, checkPythonWasmTargets } from '../../bench/runner/python-wasm/targets.ts';
import type { Row } from '../../bench/runner/statistics.ts';

function row(name: string, median: number, p95: number = median): Row {
  return { name, n: 1, median, p95, min: median };
}

const CPU = { calls: 10, cellMs: 2, hostMs: 0.5 };
const ROWS = [
  row('Python in Wasm, jail', 1.2, 7),
  row('pool', 0.3),
  row('plain python3', 24),
  row('Pyodide, cold', 1300),
  row('Pyodide, from a snapshot', 84),
];

test('every figure is judged', () => {
  const judged = checkPythonWasmTargets(ROWS, CPU).map(({ met, found }) => [met, found]);
  expect(judged).toEqual([
    [true, '1.20 ms'],
    [false, '7.00 ms'],
    [true, '2.50 ms'],
    [true, '1083.3 times'],
    [false, '70.0 times'],
    [true, '20.0 times'],
    [false, '4.00 times'],
  ]);
});

test('targets without a measurement are not judged', () => {
  const judged = checkPythonWasmTargets([], CPU).filter(({ met }) => met !== undefined);
  expect(judged.map(({ found }) => found)).toEqual(['2.50 ms']);
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
