/**
 * `npm run bench [-- --rounds N --only subprocess|wasm|python-wasm|gateway|container|distribution|programs|simulation|density|cli]`: Skillcell and other sandboxes in the same rounds of one run.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { runCliBench } from './cli/run-cli-bench.ts';
import { formatCliReport } from './cli/table.ts';
import { ContainerPeers } from './container-peers.ts';
import { ProgramPeers } from './program-peers.ts';
import { installPeer, Peer } from './peer.ts';
import type { MachineFacts } from './runner/machine.ts';
import { saveResult } from './saved-results.ts';
import { PythonPeers } from './python-peers.ts';
import { runContainerBench } from './runner/container/run-container-bench.ts';
import { formatContainerReport } from './runner/container/table.ts';
import { runDensityBench } from './density/run-density-bench.ts';
import { formatDensityReport } from './density/table.ts';
import { runDistributionBench } from './distribution/run-distribution-bench.ts';
import { formatDistributionReport } from './distribution/table.ts';
import { runGatewayBench } from './runner/gateway/run-gateway-bench.ts';
import { formatGatewayReport } from './runner/gateway/table.ts';
import { runProgramBench } from './runner/programs/run-program-bench.ts';
import { formatProgramReport } from './runner/programs/table.ts';
import { runPythonWasmBench } from './runner/python-wasm/run-python-wasm-bench.ts';
import { formatPythonWasmReport } from './runner/python-wasm/table.ts';
import { runBench } from './runner/run-bench.ts';
import { formatReport } from './runner/table.ts';
import { runWasmBench } from './runner/wasm/run-wasm-bench.ts';
import { formatWasmReport } from './runner/wasm/table.ts';
import { builtLanguages } from './runner/wasm/languages.ts';
import { runSimulation } from './simulation/run-simulation.ts';
import { formatSimulation } from './simulation/table.ts';
import { StarlingMonkey } from './starlingmonkey.ts';
import { WasmPeers } from './wasm-peers.ts';

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  subprocess,
  wasm,
  'python-wasm': pythonWasm,
  gateway,
  container,
  distribution,
  programs,
  simulation,
  density,
  cli,
};

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
    skills: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '10' },
  },
});
const settings = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const chosen = Object.entries(BENCHES).filter(([name]) => values.only === undefined || values.only === name);
if (chosen.length === 0)
  throw new Error(`--only must be ${Object.keys(BENCHES).join(' or ')}, not "${values.only}"`);
for (const [, bench] of chosen) await bench();

async function subprocess(): Promise<void> {
  const refusal = installPeer();
  if (refusal !== undefined) {
    console.log(`Skipped: @anthropic-ai/sandbox-runtime, because ${refusal}.`);
    const report = await runBench(settings);
    console.log(formatReport(report));
    return save(report);
  }
  await using peer = await Peer.start();
  const report = await runBench({ ...settings, peer });
  console.log(formatReport(report));
  console.log(
    `The peer took ${peer.initializeMs.toFixed(0)} ms to initialise, once; this is not part of any row.`,
  );
  return save({ ...report, peerInitializeMs: peer.initializeMs });
}

async function wasm(): Promise<void> {
  using starlingMonkey = new StarlingMonkey();
  await using peers = await WasmPeers.start();
  if (!starlingMonkey.language) peers.leftOut.push('StarlingMonkey: its component could not be built');
  const languages = [...builtLanguages(), ...(starlingMonkey.language ? [starlingMonkey.language] : [])];
  const report = await runWasmBench({ ...settings, languages, peers: peers.variants });
  console.log(formatWasmReport(report));
  for (const reason of peers.leftOut) console.log(`Skipped: ${reason}.`);
  save({ ...report, leftOut: peers.leftOut }, 'wasm');
}

async function pythonWasm(): Promise<void> {
  await using peers = await PythonPeers.start();
  const report = await runPythonWasmBench({ ...settings, peers: peers.variants });
  console.log(formatPythonWasmReport(report));
  for (const reason of peers.leftOut) console.log(`Skipped: ${reason}.`);
  save({ ...report, leftOut: peers.leftOut }, 'python-wasm');
}

async function gateway(): Promise<void> {
  const report = await runGatewayBench(settings);
  console.log(formatGatewayReport(report));
  save(report, 'gateway');
}

async function container(): Promise<void> {
  const report = await runContainerBench({ ...settings, peers: (place) => ContainerPeers.open(place) });
  console.log(formatContainerReport(report));
  save(report, 'container');
}

async function distribution(): Promise<void> {
  const report = await runDistributionBench(settings);
  console.log(formatDistributionReport(report));
  save(report, 'distribution');
}

async function programs(): Promise<void> {
  await using peers = await ProgramPeers.start();
  const report = await runProgramBench({ ...settings, peers: peers.peers });
  console.log(formatProgramReport(report));
  for (const reason of peers.leftOut) console.log(`Skipped: ${reason}.`);
  save({ ...report, leftOut: peers.leftOut }, 'programs');
}

async function simulation(): Promise<void> {
  const report = await runSimulation();
  console.log(formatSimulation(report));
  save(report, 'simulation');
}

async function cli(): Promise<void> {
  const report = await runCliBench(settings);
  console.log(formatCliReport(report));
  save(report, 'cli');
}

async function density(): Promise<void> {
  const report = await runDensityBench({ skills: Number(values.skills), minutes: Number(values.minutes) });
  console.log(formatDensityReport(report));
  save(report, 'density');
}

interface Saved {
  machine: MachineFacts;
  leftOut?: string[];
  peerInitializeMs?: number;
}

function save(report: Saved, kind?: string): void {
  console.log(`Written to ${saveResult(report, kind)}`);
}
