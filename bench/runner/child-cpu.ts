/**
 * CPU time of the processes that this one started and waited for.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

/** Linux reports CPU time to programs in hundredths of a second, on every machine. */
const MS_PER_TICK = 10;
/** Positions of the CPU time of ended children in /proc/self/stat, counted from the state after the name. */
const CHILD_TIMES = [13, 14];

export function childCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return CHILD_TIMES.reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) * MS_PER_TICK;
}
