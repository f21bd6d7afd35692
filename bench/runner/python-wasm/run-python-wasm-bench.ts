/**
 * The complete bench of Python in Wasm: start times, rounds for both jobs, throughput, images, kernels.
 *
 * @module
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inBenchFolder } from '../bench-folder.ts';
import { ECHO_WORDS, PROMPT_REWRITER, type Job } from '../jobs.ts';
import { currentLoad, readMachine, type MachineFacts } from '../machine.ts';
import { OurVariants } from '../ours.ts';
import { plainCommand, plainVariants } from '../plain.ts';
import type { Target } from '../targets.ts';
import { measureBursts, type BurstRow } from '../wasm/bursts.ts';
import { measurePythonCrowd, type PythonCrowd } from './crowd.ts';
import { IMAGES, measureImages, type Image, type ImageCost } from './images.ts';
import { KERNELS, measureKernels, type Kernel, type KernelCost } from './kernels.ts';
import { PythonWasmVariants } from './ours.ts';
import type { PeerVariants } from './peers.ts';
import { measureStart, type StartCost } from './start.ts';
import { checkKernelTargets, checkPythonWasmTargets } from './targets.ts';

export interface PythonWasmBenchOptions {
  rounds: number;
  /** Duration of the throughput measurement. */
  seconds: number;
  /** Other ways to do the jobs, to measure in the same rounds. */
  peers?: PeerVariants;
  images?: readonly Image[];
  kernels?: readonly Kernel[];
}

export interface PythonWasmReport {
  machine: MachineFacts;
  start: StartCost;
  jobs: { job: string; rows: BurstRow[] }[];
  crowd: PythonCrowd;
  images: ImageCost[];
  kernels: KernelCost[];
  targets: Target[];
}

const JOBS: readonly Job[] = [ECHO_WORDS, PROMPT_REWRITER];
/** Kernels take long, with little variation. */
const MOST_KERNEL_ROUNDS = 15;

export function runPythonWasmBench(options: PythonWasmBenchOptions): Promise<PythonWasmReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, options: PythonWasmBenchOptions): Promise<PythonWasmReport> {
  const machine = await readMachine(join(folder, 'doctor'), 'python-wasm');
  const start = await measureStart(folder, options.rounds);
  const jobs: PythonWasmReport['jobs'] = [];
  for (const job of JOBS) jobs.push({ job: job.name, rows: await measureJob(job, folder, options) });
  const crowd = await measurePythonCrowd(folder, options);
  const images = await measureImages(folder, {
    images: options.images ?? IMAGES,
    rounds: options.rounds,
  });
  const kernelRounds = Math.min(options.rounds, MOST_KERNEL_ROUNDS);
  const kernels = await measureKernels(folder, {
    kernels: options.kernels ?? KERNELS,
    rounds: kernelRounds,
  });
  return {
    machine: { ...machine, loadAtEnd: currentLoad() },
    start,
    jobs,
    crowd,
    images,
    kernels,
    targets: [
      ...checkPythonWasmTargets({ rows: jobs[0]?.rows ?? [], start, crowd }),
      ...checkKernelTargets(kernels),
    ],
  };
}

async function measureJob(
  job: Job,
  folder: string,
  { rounds, peers = {} }: PythonWasmBenchOptions,
): Promise<BurstRow[]> {
  const plainFolder = join(folder, 'plain');
  mkdirSync(plainFolder, { recursive: true });
  await using inWasm = new PythonWasmVariants(folder);
  await using native = new OurVariants(folder);
  const variants = [
    ...(await inWasm.of(job)),
    ...(await native.of(job)),
    ...plainVariants(plainCommand(job, plainFolder)),
    ...(peers[job.name] ?? []),
  ];
  return await measureBursts(variants, rounds);
}
