/**
 * `npm run bench [-- --rounds N --only subprocess|wasm|python-wasm]`: ours and other sandboxes in the same rounds of one run.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeer, Peer } from './peer.ts';
import { PythonPeers } from './python-peers.ts';
import { runPythonWasmBench, type PythonWasmReport } from './runner/python-wasm/run-python-wasm-bench.ts';
import { formatPythonWasmReport } from './runner/python-wasm/table.ts';
import { runBench, type BenchReport } from './runner/run-bench.ts';
import { formatReport } from './runner/table.ts';
import { runWasmBench, type WasmReport } from './runner/wasm/run-wasm-bench.ts';
import { formatWasmReport } from './runner/wasm/table.ts';
import { WasmPeers } from './wasm-peers.ts';

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  subprocess,
  wasm,
  'python-wasm': pythonWasm,
};

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
  },
});
const settings = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const chosen = Object.entries(BENCHES).filter(([name]) => values.only === undefined || values.only === name);
if (chosen.length === 0)
  throw new Error(`--only is "${values.only}", and not ${Object.keys(BENCHES).join(' or ')}`);
for (const [, bench] of chosen) await bench();

async function subprocess(): Promise<void> {
  const refusal = installPeer();
  if (refusal !== undefined) {
    console.log(`Left out: @anthropic-ai/sandbox-runtime, because ${refusal}.`);
    const report = await runBench(settings);
    console.log(formatReport(report));
    return save(report, '');
  }
  await using peer = await Peer.start();
  const report = await runBench({ ...settings, peer });
  console.log(formatReport(report));
  console.log(`The peer took ${peer.initializeMs.toFixed(0)} ms to initialise, once; no row has it.`);
  return save({ ...report, peerInitializeMs: peer.initializeMs }, '');
}

async function wasm(): Promise<void> {
  await using peers = await WasmPeers.start();
  const report = await runWasmBench({ ...settings, peers: peers.variants });
  console.log(formatWasmReport(report));
  for (const reason of peers.leftOut) console.log(`Left out: ${reason}.`);
  save({ ...report, leftOut: peers.leftOut }, '-wasm');
}

async function pythonWasm(): Promise<void> {
  await using peers = await PythonPeers.start();
  const report = await runPythonWasmBench({ ...settings, peers: peers.variants });
  console.log(formatPythonWasmReport(report));
  for (const reason of peers.leftOut) console.log(`Left out: ${reason}.`);
  save({ ...report, leftOut: peers.leftOut }, '-python-wasm');
}

type Saved =
  | (BenchReport & { peerInitializeMs?: number })
  | ((WasmReport | PythonWasmReport) & { leftOut: string[] });

function save(report: Saved, suffix: string): void {
  const { date, arch, cores } = report.machine;
  const folder = join(import.meta.dirname, 'results');
  const file = join(folder, `${date.slice(0, 10)}-linux-${arch}-${cores}-cores${suffix}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, rounded, 2)}\n`);
  console.log(`Written to ${file}`);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(3)) : value;
}
