/**
 * Our targets.
 *
 * @module
 */
import { COLD, POOL, ZYGOTE } from './ours.ts';
import { PLAIN } from './plain.ts';
import type { Row } from './statistics.ts';
import type { Throughput } from './throughput.ts';

export interface Target {
  aim: string;
  /** Undefined if it could not be measured. */
  met: boolean | undefined;
  found: string;
}

/** `peer` is the name of the other sandbox's row, if there is one. */
export function checkTargets(rows: readonly Row[], peer: string | undefined): Target[] {
  const median = (name: string | undefined): number => rows.find((row) => row.name === name)?.median ?? NaN;
  const [plain, cold, pool, zygote] = [PLAIN, COLD, POOL, ZYGOTE].map(median) as [
    number,
    number,
    number,
    number,
  ];
  const other = median(peer);
  return [
    atMost('cold jail at most 10 ms over plain python3', cold - plain, 10),
    atMost('pool at most 2 ms', pool, 2),
    atMost('zygote at most 3 ms', zygote, 3),
    factor('pool at least 5 times as fast as the peer', other / pool, 5),
    factor('cold jail faster than the peer', other / cold, 1),
  ];
}

/** With so many callers in turn, the mean latency is their number divided by the calls per second. */
export function crowdTargets({ callers, callsPerSecond, p99Ms }: Throughput): Target[] {
  const found = `${callsPerSecond.toFixed(0)} calls/s`;
  return [
    {
      aim: `${callers} callers: at least 500 calls/s`,
      ...judged(callsPerSecond, callsPerSecond >= 500, found),
    },
    atMost(`${callers} callers: p99 at most 40 ms`, p99Ms, 40),
  ];
}

export function atMost(aim: string, ms: number, limit: number): Target {
  return { aim, ...judged(ms, ms <= limit, `${ms.toFixed(2)} ms`) };
}

export function factor(aim: string, times: number, limit: number): Target {
  return { aim, ...judged(times, times > limit, `${times.toFixed(1)} times`) };
}

export function withinTimes(aim: string, times: number, limit: number): Target {
  return { aim, ...judged(times, times <= limit, `${times.toFixed(2)} times`) };
}

function judged(figure: number, met: boolean, found: string): Omit<Target, 'aim'> {
  return Number.isNaN(figure) ? { met: undefined, found: 'not measured' } : { met, found };
}
