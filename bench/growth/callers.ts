/**
 * Calls of one skill from more and more callers, each of whom calls again when it has its answer.
 *
 * @module
 */
import { measureThroughput } from '../runner/throughput.ts';
import { callOf, growthRuntime, type GrowthJob } from './engines.ts';

export interface CallersRow {
  engine: string;
  callers: number;
  callsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  failed: number;
}

export const CALLERS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];
/** V8 optimises the code of a new process during its first calls, and there is a second process only under load. */
const WARM_UP = { callers: 8, seconds: 3 } as const;

export async function measureCallers(
  folder: string,
  { jobs, callers, seconds }: { jobs: readonly GrowthJob[]; callers: readonly number[]; seconds: number },
): Promise<CallersRow[]> {
  const rows: CallersRow[] = [];
  for (const job of jobs) {
    await using runtime = growthRuntime(folder);
    const skill = await runtime.load(job.dir);
    await runtime.warm(skill, { execution: job.execution });
    const call = callOf(runtime, skill, job);
    await measureThroughput({ ...WARM_UP, seconds: Math.min(WARM_UP.seconds, 2 * seconds), call });
    for (const count of callers) {
      const { callsPerSecond, medianMs, p99Ms, failed } = await measureThroughput({
        callers: count,
        seconds,
        call,
      });
      rows.push({ engine: job.name, callers: count, callsPerSecond, p50Ms: medianMs, p99Ms, failed });
    }
  }
  return rows;
}
