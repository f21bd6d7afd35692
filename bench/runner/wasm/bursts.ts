/**
 * Interleaved measurement of calls that take less time than a machine needs to wake up: every variant has a burst
 * in every round, and its first call, after a pause, is counted separately from the following ones.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { assertSame, PAUSE_MS, shuffled, type Variant } from '../rounds.ts';
import { quantile, summarize, type Row } from '../statistics.ts';

/** Figures of back-to-back calls, and the median of the first call after a pause. */
export interface BurstRow extends Row {
  p99: number;
  rested: number;
}

/** A burst ends after this many calls, or after this much time. */
const CALLS = 10;
const BURST_MS = 30;

interface Samples {
  rested: number[];
  inARow: number[];
}

/** The first variant determines the correct result. */
export async function measureBursts(variants: readonly Variant[], rounds: number): Promise<BurstRow[]> {
  const expected = JSON.stringify((await variants[0]?.run())?.result);
  await variants[0]?.rest?.();
  for (const variant of variants) await warmUp(variant, rounds);
  const samples = new Map(variants.map(({ name }): [string, Samples] => [name, { rested: [], inARow: [] }]));
  for (let round = 0; round < rounds; round++) {
    for (const variant of shuffled(variants, round)) {
      if (round % (variant.every ?? 1) !== 0) continue;
      await sleep(PAUSE_MS);
      const [rested, ...inARow] = await burst(variant, expected);
      samples.get(variant.name)?.rested.push(rested);
      samples.get(variant.name)?.inARow.push(...inARow);
    }
  }
  return [...samples].map(([name, { rested, inARow }]) => {
    const { n, median, p95, min } = summarize(name, inARow);
    return { name, n, median, p95, p99: quantile(inARow, 0.99), min, rested: quantile(rested, 0.5) };
  });
}

/** As many calls, or as much time, as will be measured, because new code has not been optimised yet. */
async function warmUp(variant: Variant, rounds: number): Promise<void> {
  const ends = performance.now() + rounds * BURST_MS;
  for (let call = 0; call < rounds * CALLS && performance.now() < ends; call++) {
    await variant.run();
    await variant.rest?.();
  }
}

async function burst(variant: Variant, expected: string): Promise<[number, ...number[]]> {
  const one = async (): Promise<number> => {
    const { ms, result } = await variant.run();
    assertSame(variant.name, JSON.stringify(result), expected);
    await variant.rest?.();
    return ms;
  };
  const ends = performance.now() + BURST_MS;
  const samples: [number, ...number[]] = [await one(), await one()];
  while (samples.length <= CALLS && performance.now() < ends) samples.push(await one());
  return samples;
}
