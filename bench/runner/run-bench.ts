/**
 * One complete bench: rounds for both jobs, then throughput and memory.
 *
 * @module
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime } from '../../src/index.ts';
import { inBenchFolder } from './bench-folder.ts';
import { ECHO_WORDS, PROMPT_REWRITER, type Job } from './jobs.ts';
import { currentLoad, readMachine, type MachineFacts } from './machine.ts';
import { meanCellBytes } from './memory.ts';
import { OurVariants } from './ours.ts';
import { plainCommand, plainVariants, type Command } from './plain.ts';
import { measureRounds, type Variant } from './rounds.ts';
import type { Row } from './statistics.ts';
import { checkTargets, crowdTargets, type Target } from './targets.ts';
import { measureThroughput, type Throughput } from './throughput.ts';

export interface BenchOptions {
  rounds: number;
  /** Duration of the throughput measurement. */
  seconds: number;
  /** Another sandbox to measure in the same rounds. */
  peer?: { name: string; variant: (command: Command) => Variant };
}

export interface BenchReport {
  machine: MachineFacts;
  jobs: { job: string; rows: Row[] }[];
  /** With few and with many callers. */
  crowds: Throughput[];
  /** For a cell that waits for its call. */
  cellBytes: number | undefined;
  peer: string | undefined;
  targets: Target[];
}

const CALLERS = [8, 32] as const;
const WAITING_CELLS = 4;

export function runBench(options: BenchOptions): Promise<BenchReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, options: BenchOptions): Promise<BenchReport> {
  const machine = await readMachine(join(folder, 'doctor'), 'python');
  const peer = options.peer?.name;
  const echo = await measureJob(ECHO_WORDS, folder, options);
  const rewriter = await measureJob(PROMPT_REWRITER, folder, { rounds: options.rounds });
  const { crowds, cellBytes } = await measureCrowd(folder, options.seconds);
  return {
    machine: { ...machine, loadAtEnd: currentLoad() },
    jobs: [
      { job: ECHO_WORDS.name, rows: echo },
      { job: PROMPT_REWRITER.name, rows: rewriter },
    ],
    crowds,
    cellBytes,
    peer,
    targets: [...checkTargets(echo, peer), ...crowds.flatMap(crowdTargets)],
  };
}

async function measureJob(
  job: Job,
  folder: string,
  { rounds, peer }: Pick<BenchOptions, 'rounds' | 'peer'>,
): Promise<Row[]> {
  const plainFolder = join(folder, 'plain');
  mkdirSync(plainFolder, { recursive: true });
  const command = plainCommand(job, plainFolder);
  await using ours = new OurVariants(folder);
  const variants = [...plainVariants(command), ...(await ours.of(job))];
  if (peer) variants.push(peer.variant(command));
  return await measureRounds(variants, rounds);
}

/** Many concurrent callers, and then the cells that wait for the next call. */
async function measureCrowd(
  folder: string,
  seconds: number,
): Promise<Pick<BenchReport, 'crowds' | 'cellBytes'>> {
  await using runtime = createRuntime({
    home: join(folder, 'crowd'),
    pool: { size: WAITING_CELLS },
    caller: 'bench',
  });
  const skill = await runtime.load(ECHO_WORDS.dir);
  await runtime.warm(skill);
  const cellBytes = meanCellBytes();
  const call = () => runtime.execute(skill, ECHO_WORDS.params, { reject: false });
  const crowds: Throughput[] = [];
  for (const callers of CALLERS) crowds.push(await measureThroughput({ callers, seconds, call }));
  return { crowds, cellBytes };
}
