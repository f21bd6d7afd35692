/**
 * Interleaved measurement: every variant once per round, so that other load on the machine affects all of them equally.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { summarize, type Row } from './statistics.ts';

/** One way to do a job. */
export interface Variant {
  name: string;
  /** Does the job once. Work other than waiting for the result is not measured separately. */
  run(): Promise<Timing>;
  /** Replaces what a call used up, e.g. the pre-started process; not measured. */
  rest?(): Promise<void>;
  /** Takes part only in every nth round: for variants that take seconds. */
  every?: number;
}

export interface Timing {
  /** From the call until the caller has the result. */
  ms: number;
  result: unknown;
  /** Additional measurements of the same call, by name. */
  parts?: Record<string, number>;
}

/** Time for the cleanup of an exited process, so that no variant pays for the previous one. */
export const PAUSE_MS = 20;
const WARM_UP_ROUNDS = 2;

/** The first variant determines the correct result. */
export async function measureRounds(variants: readonly Variant[], rounds: number): Promise<Row[]> {
  const samples = new Map<string, number[]>();
  let expected: string | undefined;
  for (let round = 0; round < rounds + WARM_UP_ROUNDS; round++) {
    for (const variant of shuffled(variants, round)) {
      const { ms, result, parts = {} } = await variant.run();
      expected ??= JSON.stringify(result);
      assertSame(variant.name, JSON.stringify(result), expected);
      await variant.rest?.();
      await sleep(PAUSE_MS);
      const measures = [[variant.name, ms], ...partsOf(variant, parts)] as const;
      for (const [name, value] of measures) samples.set(name, [...(samples.get(name) ?? []), value]);
    }
  }
  return [...samples].map(([name, values]) => summarize(name, values.slice(WARM_UP_ROUNDS)));
}

function partsOf(variant: Variant, parts: Record<string, number>): [string, number][] {
  return Object.entries(parts).map(([part, ms]) => [`${variant.name}, ${part}`, ms]);
}

/** The first round in the given order, which is that of the rows; each later one in another, the same in every run: no variant always follows the same one, and pays for what it left. */
export function shuffled<T>(items: readonly T[], round: number): T[] {
  const order = [...items];
  if (round === 0) return order;
  let state = Math.imul(round, 0x9e3779b1);
  for (let at = order.length - 1; at > 0; at--) {
    // xorshift
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (at + 1);
    [order[at], order[other]] = [order[other] as T, order[at] as T];
  }
  return order;
}

/** A variant that does less than its job would look fast. */
export function assertSame(name: string, result: string, expected: string): void {
  if (result !== expected) throw new Error(`"${name}" returned ${result} instead of ${expected}`);
}
