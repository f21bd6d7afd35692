/**
 * The bench of Wasm cells measures what it says, and every variant does the same job. Durations are not tested.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runWasmBench, type WasmReport } from '../../bench/runner/wasm/run-wasm-bench.ts';
import { builtLanguages, PARAMS } from '../../bench/runner/wasm/languages.ts';
import { formatWasmReport } from '../../bench/runner/wasm/table.ts';
import { packageRoot } from '../../src/inside.ts';

const PEER_JOB = join(packageRoot(), 'bench', 'peers', 'wasm', 'spawned.js');
/** Committed, so that they exist on every machine. */
const languages = builtLanguages().filter(({ name }) => ['C', 'AssemblyScript', 'Rust'].includes(name));

let report: WasmReport;

beforeAll(async () => {
  const spawned = (): unknown =>
    JSON.parse(
      execFileSync(process.execPath, [PEER_JOB], { input: JSON.stringify(PARAMS), encoding: 'utf8' }),
    );
  const peer = { name: 'node, spawned', run: async () => ({ ms: 1, result: spawned() }) };
  report = await runWasmBench({ rounds: 1, seconds: 0.2, languages, peers: [peer] });
});

test('every language is measured behind both walls, and a peer returns the same result', () => {
  const names = ['C', 'AssemblyScript', 'Rust'];
  expect(report.rows.map((row) => row.name)).toEqual([
    ...names.map((name) => `${name}, jail`),
    ...names.map((name) => `${name}, process`),
    'node, spawned',
  ]);
  for (const row of report.rows) {
    expect(row.n).toBeGreaterThan(0);
    expect(row.min).toBeGreaterThan(0);
    expect(row.rested).toBeGreaterThan(0);
  }
});

test('concurrent calls do not fail', () => {
  expect(report.crowds.map(({ language }) => language)).toEqual(languages.map(({ name }) => name));
  for (const { throughput } of report.crowds) {
    expect(throughput).toMatchObject({ callers: 64, failed: 0 });
    expect(throughput.callsPerSecond).toBeGreaterThan(0);
  }
});

test('growing components and the cost of fuel are measured', () => {
  const sizes = report.sizes.map(({ bytes }) => bytes);
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(sizes.at(-1)).toBeGreaterThan(4_000_000);
  expect(report.fuel.map(({ language }) => language)).toEqual(languages.map(({ name }) => name));
});

test('the report has a line for each row and target', () => {
  const text = formatWasmReport(report);
  for (const row of report.rows) expect(text).toMatch(new RegExp(`^${row.name} +\\d`, 'm'));
  expect(text).toMatch(/^(met {4}|NOT MET) {2}C component at most 0.5 ms: [\d.]+ ms$/m);
  expect(text).toMatch(/^ {9}QuickJS component at most 1 ms: not measured$/m);
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});

test('the Extism plugin imports nothing but its kernel', () => {
  const file = join(packageRoot(), 'bench', 'peers', 'wasm', 'extism-plugin.wasm');
  const module = new WebAssembly.Module(readFileSync(file));
  expect(new Set(WebAssembly.Module.imports(module).map((item) => item.module))).toEqual(
    new Set(['extism:host/env']),
  );
  expect(WebAssembly.Module.exports(module).map((item) => item.name)).toContain('count_words');
});

test('the error says what to build if nothing is built', async () => {
  await expect(runWasmBench({ rounds: 1, seconds: 0.1, languages: [] })).rejects.toMatchObject({
    code: 'skill_unavailable',
  });
});

test('the benchmark leaves no folder behind', () => {
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(`skillcell-bench-${process.pid}`));
  expect(left).toEqual([]);
});
