/**
 * Seeded random numbers: the same seed gives the same numbers on every machine.
 *
 * @module
 */

/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** A linear congruential step with a mixed output. Good enough for queues, not for secrets. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x45_d9_f3_b);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45_d9_f3_b);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

export function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random()) * mean;
}

/** What a bench saved about a time. */
export interface Measured {
  min: number;
  median: number;
  p95: number;
}

/** Of the standard normal distribution. */
const Z_95 = 1.6449;

/** A lognormal distribution above the minimum, with the measured median and 95th percentile. */
export function fitted({ min, median, p95 }: Measured): (random: Random) => number {
  const middle = Math.log(median - min);
  const spread = (Math.log(p95 - min) - middle) / Z_95;
  return (random) => min + Math.exp(middle + spread * normal(random));
}

function normal(random: Random): number {
  return Math.sqrt(exponential(random, 2)) * Math.cos(2 * Math.PI * random());
}
