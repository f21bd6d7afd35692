/**
 * The processes below a service, identified by pid and start time, because a pid can be reused.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface Seen {
  pid: number;
  start: string;
}

/** Everything that it has started and that still runs. */
export function descendantsOf(root: number): Seen[] {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger).flatMap(statOf);
  const found = new Set([root]);
  for (const above of found) for (const { pid, parent } of all) if (parent === above) found.add(pid);
  return all.filter(({ pid }) => found.has(pid) && pid !== root).map(({ pid, start }) => ({ pid, start }));
}

/** Processes in cgroups of that runtime, wherever they are in the tree, including orphans. */
export function membersOfGroups(owner: number): Seen[] {
  const mark = `skillcell-${owner}-`;
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && groupsOf(pid).includes(mark))
    .flatMap((pid) => statOf(pid).map(({ start }) => ({ pid, start })));
}

function groupsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return '';
  }
}

export function isAlive({ pid, start }: Seen): boolean {
  return statOf(pid).some((found) => found.start === start && found.state !== 'Z');
}

/** Resident memory in MiB; 0 if it is gone. */
export function memoryOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

interface Stat extends Seen {
  parent: number;
  state: string;
}

function statOf(pid: number): Stat[] {
  try {
    // The name is in parentheses and may contain anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return [{ pid, state: fields[0] ?? '', parent: Number(fields[1]), start: fields[19] ?? '' }];
  } catch {
    return [];
  }
}
