/**
 * How many calls a busy runtime completes, and how long the slowest take.
 *
 * @module
 */
import type { Outcome } from '../../src/index.ts';
import { assertSame } from './rounds.ts';
import { quantile } from './statistics.ts';

export interface Throughput {
  callers: number;
  seconds: number;
  callsPerSecond: number;
  medianMs: number;
  p99Ms: number;
  failed: number;
  /** Number of cells by origin. */
  starts: Record<string, number>;
}

export interface ThroughputOptions {
  callers: number;
  seconds: number;
  call: () => Promise<Outcome>;
}

/** Every result must be that of the first call. */
export async function measureThroughput({ callers, seconds, call }: ThroughputOptions): Promise<Throughput> {
  const samples: number[] = [];
  const starts: Record<string, number> = {};
  let failed = 0;
  let expected: string | undefined;
  const began = performance.now();
  const keepCalling = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      const sent = performance.now();
      const outcome = await call();
      samples.push(performance.now() - sent);
      const start = outcome.execution?.start ?? 'none';
      starts[start] = (starts[start] ?? 0) + 1;
      if (!outcome.ok) {
        failed++;
        continue;
      }
      const result = JSON.stringify(outcome.result);
      expected ??= result;
      assertSame('A call of many', result, expected);
    }
  };
  await Promise.all(Array.from({ length: callers }, keepCalling));
  const took = (performance.now() - began) / 1000;
  return {
    callers,
    seconds: took,
    callsPerSecond: samples.length / took,
    medianMs: quantile(samples, 0.5),
    p99Ms: quantile(samples, 0.99),
    failed,
    starts,
  };
}
