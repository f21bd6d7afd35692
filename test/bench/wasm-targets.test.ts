import { expect, test } from 'vitest';
import type { BurstRow } from '../../bench/runner/wasm/bursts.ts';
import type { Crowd } from '../../bench/runner/wasm/crowd.ts';
import { checkWasmTargets } from '../../bench/runner/wasm/targets.ts';

function row(name: string, median: number): BurstRow {
  return { name, n: 1, median, p99: median, p95: median, min: median, rested: median };
}

function crowd(language: string, callsPerSecond: number, mib: number): Crowd {
  const throughput = {
    callers: 64,
    seconds: 1,
    callsPerSecond,
    medianMs: 1,
    p99Ms: 1,
    failed: 0,
    starts: {},
  };
  return { language, throughput, cellBytes: mib * 1024 * 1024 };
}

const ROWS = [
  { ...row('C, jail', 0.2), rested: 0.75 },
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

const CROWDS = [crowd('C', 5000, 17.5), crowd('TypeScript (source)', 3100, 33)];

test('every figure is judged, and peers are compared with the slowest small component', () => {
  const judged = checkWasmTargets({ rows: ROWS, crowds: CROWDS, fuel: FUEL }).map(({ aim, met, found }) => [
    aim,
    met,
    found,
  ]);
  expect(judged).toEqual([
    ['C component at most 0.5 ms', true, '0.20 ms'],
    ['Rust component at most 0.5 ms', false, '0.60 ms'],
    ['AssemblyScript component at most 0.5 ms', true, '0.40 ms'],
    ['at least 50 times as fast as Extism in a worker', true, '55.0 times'],
    ['at least 100 times as fast as starting Node', false, '90.0 times'],
    ['at least 100 times as fast as starting Deno', undefined, 'not measured'],
    ['QuickJS component at most 1 ms', true, '0.90 ms'],
    ['TypeScript source at most 0.7 ms', false, '0.85 ms'],
    ['C component after a pause at most 0.7 ms', false, '0.75 ms'],
    ['StarlingMonkey component at most 3 ms', false, '3.10 ms'],
    ['TypeScript source with 64 callers at least 3000 calls/s', true, '3100 calls/s'],
    ['warm process of a C component at most 18 MiB', true, '17.5 MiB'],
    ['warm process of TypeScript source at most 32 MiB', false, '33.0 MiB'],
    ['fuel costs at most 20 % in C', false, '25 %'],
    ['fuel costs at most 20 % in Rust', true, '10 %'],
  ]);
});

test('the report says so if nothing of ours was measured', () => {
  const peersOnly = ROWS.filter(({ name }) => !name.endsWith('jail'));
  for (const { met } of checkWasmTargets({ rows: peersOnly, crowds: [], fuel: [] }))
    expect(met).toBeUndefined();
});
