/**
 * The resource usage of one process. It has no children, because Node's permission flags forbid them.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

/** The kernel reports times in ticks of 1/100 s on every architecture we support. */
const MS_PER_TICK = 10;
const BYTES_PER_KB = 1024;
/** Field indexes in /proc/<pid>/stat after the name, which is in parentheses and may contain anything. */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

export interface PlainUsage {
  cpuMs: number;
  memoryBytes: number;
}

/** Undefined if the process is gone. */
export function readUsage(pid: number | undefined): PlainUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    // A zombie has no memory.
    return { cpuMs: ticks * MS_PER_TICK, memoryBytes: Number(resident ?? 0) * BYTES_PER_KB };
  } catch {
    return undefined;
  }
}
