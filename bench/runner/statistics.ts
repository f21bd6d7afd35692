/**
 * Summary statistics.
 *
 * @module
 */
export interface Row {
  name: string;
  n: number;
  median: number;
  p95: number;
  min: number;
}

export function summarize(name: string, samples: readonly number[]): Row {
  return {
    name,
    n: samples.length,
    median: quantile(samples, 0.5),
    p95: quantile(samples, 0.95),
    min: quantile(samples, 0),
  };
}

/** Interpolates linearly between two samples. NaN without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return below + (above - below) * (at - Math.floor(at));
}
