/**
 * CPU time of a call, wherever it is spent: in the cell, also after the reply, and in the caller's process.
 *
 * @module
 */
import { cellProcesses, readProc } from './cell-processes.ts';

export interface CpuCost {
  calls: number;
  /** Per call, in ms: all processes of all cells. */
  cellMs: number;
  /** Per call, in ms: this process. */
  hostMs: number;
}

/** Linux reports CPU time to programs in hundredths of a second, on every machine. */
const MS_PER_TICK = 10;
/** Positions of user and system time in /proc/<pid>/stat, counted from the state after the name. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/** Back-to-back calls: the reset after one call belongs to the next, so each is counted once. */
export async function measureCpu(calls: number, call: () => Promise<unknown>): Promise<CpuCost> {
  await call();
  const [cellsBefore, hostBefore] = [cellTicks(), process.cpuUsage()];
  for (let at = 0; at < calls; at++) await call();
  const host = process.cpuUsage(hostBefore);
  const cells = cellTicks() - cellsBefore;
  return { calls, cellMs: (cells * MS_PER_TICK) / calls, hostMs: (host.user + host.system) / 1000 / calls };
}

function cellTicks(): number {
  return cellProcesses()
    .flat()
    .map((pid) => {
      const fields = readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
      return Number(fields[USER_TIME] ?? 0) + Number(fields[SYSTEM_TIME] ?? 0);
    })
    .reduce((sum, ticks) => sum + ticks, 0);
}
