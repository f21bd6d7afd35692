/**
 * `npm run bench [-- --rounds N --only NAME,NAME]`: Skillcell and other sandboxes in the same rounds of one run, and at the end which aims
 * are met. The names are those of `BENCHES`.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import { formatAims } from './aims.ts';
import { runCliBench } from './cli/run-cli-bench.ts';
import { formatCliReport } from './cli/table.ts';
import { ContainerPeers } from './container-peers.ts';
import { ProgramPeers } from './program-peers.ts';
import { runGrowthBench } from './growth/run-growth.ts';
import { formatGrowthReport } from './growth/table.ts';
import { installPeer, Peer } from './peer.ts';
import {
  formatThroughputs,
  nativeThroughputs,
  withEchoCommand,
  type OurThroughput,
  type PeerThroughput,
} from './peer-throughput.ts';
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
import type { Target } from './runner/targets.ts';
import { runWasmBench } from './runner/wasm/run-wasm-bench.ts';
import { formatWasmReport } from './runner/wasm/table.ts';
import { builtLanguages } from './runner/wasm/languages.ts';
import { runSimulation } from './simulation/run-simulation.ts';
import { formatSimulation } from './simulation/table.ts';
import { StarlingMonkey } from './starlingmonkey.ts';
import { WasmPeers } from './wasm-peers.ts';

const BENCHES: Readonly<Record<string, () => Promise<Saved>>> = {
  subprocess,
  wasm,
  'python-wasm': pythonWasm,
  gateway,
  container,
  distribution,
  programs,
  simulation,
  growth,
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
const names = values.only?.split(',') ?? Object.keys(BENCHES);
const chosen = Object.entries(BENCHES).filter(([name]) => names.includes(name));
if (chosen.length < names.length)
  throw new Error(
    `--only must be one or more of ${Object.keys(BENCHES).join(', ')}, with commas, not "${values.only}"`,
  );
const verdicts: Record<string, readonly Target[]> = {};
try {
  for (const [name, bench] of chosen) verdicts[name] = (await bench()).targets ?? [];
} finally {
  console.log(`\n${formatAims(verdicts)}`);
}

async function subprocess(): Promise<Saved> {
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
  const ours = nativeThroughputs(report);
  const { measured, leftOut } = await withEchoCommand((command, expected) =>
    peer.throughput(command, { ...settings, callers: callersOf(ours) }, expected),
  );
  printThroughputs(ours, measured, leftOut);
  console.log(
    `The peer took ${peer.initializeMs.toFixed(0)} ms to initialise, once; this is not part of any row.`,
  );
  return save({ ...report, peerInitializeMs: peer.initializeMs, peerThroughputs: measured, leftOut });
}

async function wasm(): Promise<Saved> {
  using starlingMonkey = new StarlingMonkey();
  await using peers = await WasmPeers.start();
  if (!starlingMonkey.language) peers.leftOut.push('StarlingMonkey: its component could not be built');
  const languages = [...builtLanguages(), ...(starlingMonkey.language ? [starlingMonkey.language] : [])];
  const report = await runWasmBench({ ...settings, languages, peers: peers.variants });
  console.log(formatWasmReport(report));
  const ours = report.crowds.map(({ language, throughput }) => ({ name: language, throughput }));
  const peerThroughputs = await peers.throughput({ ...settings, callers: callersOf(ours) });
  printThroughputs(ours, peerThroughputs, peers.leftOut);
  return save({ ...report, peerThroughputs, leftOut: peers.leftOut }, 'wasm');
}

async function pythonWasm(): Promise<Saved> {
  await using peers = await PythonPeers.start();
  const report = await runPythonWasmBench({ ...settings, peers: peers.variants });
  console.log(formatPythonWasmReport(report));
  const ours = [{ name: 'Python in Wasm', throughput: report.crowd.throughput }];
  const load = { ...settings, callers: callersOf(ours) };
  const peerThroughputs = await withEchoCommand((_, expected) => peers.throughput(load, expected));
  printThroughputs(ours, peerThroughputs, peers.leftOut);
  return save({ ...report, peerThroughputs, leftOut: peers.leftOut }, 'python-wasm');
}

async function gateway(): Promise<Saved> {
  const report = await runGatewayBench(settings);
  console.log(formatGatewayReport(report));
  return save(report, 'gateway');
}

async function container(): Promise<Saved> {
  const report = await runContainerBench({ ...settings, peers: (place) => ContainerPeers.open(place) });
  console.log(formatContainerReport(report));
  return save(report, 'container');
}

async function distribution(): Promise<Saved> {
  const report = await runDistributionBench(settings);
  console.log(formatDistributionReport(report));
  return save(report, 'distribution');
}

async function programs(): Promise<Saved> {
  await using peers = await ProgramPeers.start();
  const report = await runProgramBench({ ...settings, peers: peers.peers });
  console.log(formatProgramReport(report));
  for (const reason of peers.leftOut) console.log(`Skipped: ${reason}.`);
  return save({ ...report, leftOut: peers.leftOut }, 'programs');
}

async function simulation(): Promise<Saved> {
  const report = await runSimulation();
  console.log(formatSimulation(report));
  return save(report, 'simulation');
}

async function cli(): Promise<Saved> {
  const report = await runCliBench(settings);
  console.log(formatCliReport(report));
  return save(report, 'cli');
}

async function growth(): Promise<Saved> {
  const report = await runGrowthBench(settings);
  console.log(formatGrowthReport(report));
  return save(report, 'growth');
}

function callersOf([first]: readonly OurThroughput[]): number {
  return first?.throughput.callers ?? 1;
}

function printThroughputs(
  ours: readonly OurThroughput[],
  peers: readonly PeerThroughput[],
  leftOut: readonly string[],
): void {
  console.log(`\n${formatThroughputs(ours, peers)}`);
  for (const reason of leftOut) console.log(`Skipped: ${reason}.`);
}

async function density(): Promise<Saved> {
  const report = await runDensityBench({ skills: Number(values.skills), minutes: Number(values.minutes) });
  console.log(formatDensityReport(report));
  return save(report, 'density');
}

interface Saved {
  machine: MachineFacts;
  targets?: Target[];
  leftOut?: string[];
  peerInitializeMs?: number;
  peerThroughputs?: PeerThroughput[];
}

function save(report: Saved, kind?: string): Saved {
  console.log(`Written to ${saveResult(report, kind)}`);
  return report;
}
