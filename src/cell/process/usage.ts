/**
 * What one process uses. It has no children: Node may start none.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

/** The kernel reports times in ticks of 1/100 s on every architecture we support. */
const MS_PER_TICK = 10;
const BYTES_PER_KB = 1024;
/** Places in /proc/<pid>/stat behind the name, which is in parentheses and may hold anything. */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

export interface PlainUsage {
  cpuMs: number;
  memoryBytes: number;
}

/** Undefined when the process is gone. */
export function readUsage(pid: number | undefined): PlainUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    // A process that has ended and was not yet collected has no memory any more.
    return { cpuMs: ticks * MS_PER_TICK, memoryBytes: Number(resident ?? 0) * BYTES_PER_KB };
  } catch {
    return undefined;
  }
}
