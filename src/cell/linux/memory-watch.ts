/**
 * Measures a process and its descendants from /proc, for machines without control groups.
 *
 * It only sees mapped memory. Unmapped pages of a memfd or tmpfs have to be limited in other ways (tmpfs size,
 * memfd_create denied).
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface TreeUsage {
  /** Proportional set size (Pss) with swap if readable, otherwise resident pages; plus page tables. */
  rssBytes: number;
  /** Of live processes, and of their exited children that were waited for. */
  cpuMs: number;
  /** The root first; empty if it is gone. */
  pids: number[];
}

interface ProcessStat {
  parent: number;
  cpuMs: number;
}

/** The kernel reports times in ticks of 1/100 s on every architecture we support. */
const MS_PER_TICK = 10;
const BYTES_PER_KB = 1024;

/** Measures once. A process that exits during the measurement counts as far as it was read. */
export function measureTree(rootPid: number): TreeUsage {
  const usage: TreeUsage = { rssBytes: 0, cpuMs: 0, pids: [] };
  for (const pid of treeOf(rootPid)) {
    const stat = readStat(pid);
    if (!stat) continue;
    usage.pids.push(pid);
    usage.cpuMs += stat.cpuMs;
    usage.rssBytes += memoryOf(pid);
  }
  return usage;
}

/** CPU time of these processes, and of their exited children that were waited for. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (readStat(pid)?.cpuMs ?? 0), 0);
}

/** The direct children of a process. */
export function childPids(pid: number): number[] {
  return childLookup(pid)(pid);
}

/** Processes that were started with this `argv[0]` and still run the same program. */
export function pidsByName(name: string): number[] {
  return entries('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && read(`/proc/${pid}/cmdline`)?.startsWith(`${name}\0`));
}

function treeOf(rootPid: number): number[] {
  const childrenOf = childLookup(rootPid);
  const found = new Set([rootPid]);
  // Iterating a set includes elements added during the loop, so this visits all descendants.
  for (const pid of found) for (const child of childrenOf(pid)) found.add(child);
  return [...found];
}

function childLookup(pid: number): (pid: number) => number[] {
  return existsSync(`/proc/${pid}/task/${pid}/children`) ? listedChildren : scannedChildren();
}

/** From the kernel's own list, which not every kernel provides. */
function listedChildren(pid: number): number[] {
  return entries(`/proc/${pid}/task`).flatMap((thread) =>
    (read(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}

/** From the parent pids of all processes on the machine. */
function scannedChildren(): (pid: number) => number[] {
  const children = new Map<number, number[]>();
  for (const pid of entries('/proc').map(Number).filter(Number.isInteger)) {
    const parent = readStat(pid)?.parent;
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(pid);
    else children.set(parent, [pid]);
  }
  return (pid) => children.get(pid) ?? [];
}

function readStat(pid: number): ProcessStat | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name is in parentheses and may itself contain spaces and parentheses.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
  return { parent: fields[1] ?? 0, cpuMs: (user + system + childrenUser + childrenSystem) * MS_PER_TICK };
}

function memoryOf(pid: number): number {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const status = read(`/proc/${pid}/status`) ?? '';
  const mapped = rollup
    ? kilobytes(rollup, 'Pss') + kilobytes(rollup, 'SwapPss')
    : kilobytes(status, 'VmRSS');
  // Sparse mappings use more memory for page tables than for their contents.
  return (mapped + kilobytes(status, 'VmPTE')) * BYTES_PER_KB;
}

function kilobytes(text: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
