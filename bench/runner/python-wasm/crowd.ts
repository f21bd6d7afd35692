/**
 * Calls without a pause: their CPU time, their throughput, and the memory of a warm process.
 *
 * @module
 */
import { measureCpu, type CpuCost } from '../cpu.ts';
import { ECHO_WORDS } from '../jobs.ts';
import { meanCellBytes } from '../memory.ts';
import { quantile } from '../statistics.ts';
import { measureThroughput, type Throughput } from '../throughput.ts';
import { pythonRuntime } from './ours.ts';

export interface PythonCrowd {
  cpu: CpuCost;
  /** Median of the same calls, back to back by one caller. */
  tightMs: number;
  throughput: Throughput;
  /** For one warm process; undefined if it cannot be read. */
  cellBytes: number | undefined;
}

const CALLERS = 64;
/** Enough calls that hundredths of a second of CPU time are precise. */
const CALLS_PER_ROUND = 12;

export async function measurePythonCrowd(
  folder: string,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<PythonCrowd> {
  const pool = { maxConcurrent: CALLERS, maxQueue: CALLERS };
  await using runtime = pythonRuntime(folder, { name: 'crowd', wall: 'jail', options: { pool } });
  const skill = await runtime.load(ECHO_WORDS.dir);
  const call = () => runtime.execute(skill, ECHO_WORDS.params, { execution: 'wasm', reject: false });
  const calls = rounds * CALLS_PER_ROUND;
  for (let warmUp = 0; warmUp < calls; warmUp++) await call();
  const samples: number[] = [];
  const cpu = await measureCpu(calls, async () => {
    const sent = performance.now();
    await call();
    samples.push(performance.now() - sent);
  });
  const cellBytes = meanCellBytes();
  const throughput = await measureThroughput({ callers: CALLERS, seconds, call });
  return { cpu, tightMs: quantile(samples, 0.5), throughput, cellBytes };
}
