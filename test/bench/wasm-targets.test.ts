import { expect, test } from 'vitest';
import type { BurstRow } from '../../bench/runner/wasm/bursts.ts';
import { checkWasmTargets } from '../../bench/runner/wasm/targets.ts';

function row(name: string, median: number): BurstRow {
  return { name, n: 1, median, p99: median, p95: median, min: median, rested: median };
}

const ROWS = [
  row('C, jail', 0.2),
  row('Rust, jail', 0.6),
  row('AssemblyScript, jail', 0.4),
  row('TypeScript (QuickJS), jail', 0.9),
  row('TypeScript (source), jail', 0.85),
  row('JavaScript (StarlingMonkey), jail', 3.1),
  row('Extism, worker', 33),
  row('node, spawned', 54),
];
const FUEL = [
  { language: 'C', plainMs: 1, meteredMs: 1.25, overhead: 0.25 },
  { language: 'Rust', plainMs: 1, meteredMs: 1.1, overhead: 0.1 },
];

test('every figure is judged, and peers are compared with the slowest small component', () => {
  const judged = checkWasmTargets(ROWS, FUEL).map(({ aim, met, found }) => [aim, met, found]);
  expect(judged).toEqual([
    ['C component at most 0.5 ms', true, '0.20 ms'],
    ['Rust component at most 0.5 ms', false, '0.60 ms'],
    ['AssemblyScript component at most 0.5 ms', true, '0.40 ms'],
    ['at least 50 times as fast as Extism in a worker', true, '55.0 times'],
    ['at least 100 times as fast as starting Node', false, '90.0 times'],
    ['at least 100 times as fast as starting Deno', undefined, 'not measured'],
    ['QuickJS component at most 1 ms', true, '0.90 ms'],
    ['TypeScript source at most 0.8 ms', false, '0.85 ms'],
    ['StarlingMonkey component at most 3 ms', false, '3.10 ms'],
    ['fuel costs at most 20 % in C', false, '25 %'],
    ['fuel costs at most 20 % in Rust', true, '10 %'],
  ]);
});

test('the report says so if nothing of ours was measured', () => {
  const peersOnly = ROWS.filter(({ name }) => !name.endsWith('jail'));
  for (const { met } of checkWasmTargets(peersOnly, [])) expect(met).toBeUndefined();
});
