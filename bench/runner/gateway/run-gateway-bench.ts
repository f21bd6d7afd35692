/**
 * The cost of the gateway: requests from warm cells next to the same requests made directly, in the same rounds, and the
 * maximum rate through one gateway.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createRuntime, parsePolicy, type Runtime } from '../../../src/index.ts';
import { packageRoot } from '../../../src/inside.ts';
import { inBenchFolder } from '../bench-folder.ts';
import { currentLoad, readMachine, type MachineFacts } from '../machine.ts';
import { shuffled } from '../rounds.ts';
import { summarize, type Row } from '../statistics.ts';
import type { Target } from '../targets.ts';
import { openGatewayStage, type GatewayStage } from './stage.ts';
import {
  checkGatewayTargets,
  COMPONENT,
  DIRECT_NODE,
  DIRECT_PYTHON,
  NATIVE,
  PYTHON_WASM,
  type Load,
} from './targets.ts';

/** Requests in each round, and before the first. */
const REQUESTS = 20;
const WARM_UP_ROUNDS = 1;
const WORKERS = 4;

export interface GatewayBenchOptions {
  rounds: number;
  /** Duration of the full load. */
  seconds: number;
}

export interface GatewayReport {
  machine: MachineFacts;
  rows: Row[];
  load: Load;
  targets: Target[];
}

/** A batch of requests, and how long each took. */
type Variant = readonly [name: string, run: () => Promise<number[]>];

export function runGatewayBench(options: GatewayBenchOptions): Promise<GatewayReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, { rounds, seconds }: GatewayBenchOptions): Promise<GatewayReport> {
  const machine = await readMachine(join(folder, 'doctor'), 'python');
  await using stage = await openGatewayStage(folder);
  await using runtime = createRuntime({
    home: join(folder, 'home'),
    policy: parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'bench' }),
    network: { limits: { requests: 1_000_000 } },
    caller: 'bench',
    audit: false,
  });
  const rows = await measure(await variantsOf(runtime, stage), rounds);
  const load = await measureLoad(runtime, stage, seconds);
  const targets = checkGatewayTargets(rows, load);
  return { machine: { ...machine, loadAtEnd: currentLoad() }, rows, load, targets };
}

async function measure(variants: readonly Variant[], rounds: number): Promise<Row[]> {
  const samples = new Map<string, number[]>(variants.map(([name]) => [name, []]));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [name, run] of shuffled(variants, round + WARM_UP_ROUNDS)) {
      const took = await run();
      if (round >= 0) samples.get(name)?.push(...took);
    }
  }
  return [...samples].map(([name, values]) => summarize(name, values));
}

async function variantsOf(runtime: Runtime, { url, python, component }: GatewayStage): Promise<Variant[]> {
  const [requests, once] = [await runtime.load(python), await runtime.load(component)];
  await runtime.warm(once);
  const inCell = async (execution: 'subprocess' | 'wasm'): Promise<number[]> => {
    const { result } = await runtime.execute(requests, { url, count: REQUESTS }, { execution });
    return (result as { took: number[] }).took;
  };
  return [
    [DIRECT_PYTHON, () => directPython(python, { url, count: REQUESTS })],
    [NATIVE, () => inCell('subprocess')],
    [PYTHON_WASM, () => inCell('wasm')],
    [DIRECT_NODE, () => repeated(() => directNode(url))],
    [COMPONENT, () => repeated(() => runtime.execute(once, { url }))],
  ];
}

async function repeated(act: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let count = 0; count < REQUESTS; count++) {
    const began = performance.now();
    await act();
    took.push(performance.now() - began);
  }
  return took;
}

/** The same skill without a cell. */
function directPython(skill: string, params: object): Promise<number[]> {
  const { promise, resolve, reject } = Promise.withResolvers<number[]>();
  const args = ['-I', '-B', join(packageRoot(), 'bench', 'plain.py'), skill];
  const child = execFile('/usr/bin/python3', args, { env: {} }, (error, stdout) =>
    error ? reject(error) : resolve((JSON.parse(stdout) as { took: number[] }).took),
  );
  child.stdin?.end(JSON.stringify(params));
  return promise;
}

/** On a new connection, like the first request of a call. */
async function directNode(url: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const outgoing = request(url, { agent: false }, (message) => void text(message).then(resolve, reject));
  outgoing.on('error', reject).end();
  if ((await promise) !== 'fine') throw new Error('The server returned an unexpected answer');
}

async function measureLoad(runtime: Runtime, { url, python }: GatewayStage, seconds: number): Promise<Load> {
  const params = { url, workers: WORKERS, seconds };
  const { result } = await runtime.execute(python, params, { execution: 'subprocess' });
  const totals = result as { served: number; failed: number; seconds: number };
  const { served, failed } = totals;
  return { workers: WORKERS, requestsPerSecond: served / totals.seconds, served, failed };
}
