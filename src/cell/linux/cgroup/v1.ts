/**
 * Control groups v1: one hierarchy per controller; memory is required, cpuacct and pids are optional.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMsOf } from '../memory-watch.ts';
import type { Cgroup, CgroupDriver, CgroupLimits } from './contract.ts';
import { driverOf, makeParent, parentName, removeWithRetries, type GroupPlan } from './directories.ts';
import { fieldOf, readText, write, writeIfPresent } from './files.ts';
import { KeptFiles } from './kept-files.ts';
import { attachTo, killMembers, membersOf } from './members.ts';

/** The directory of our own group in each hierarchy, below which we create groups. */
export interface V1Roots {
  memory: string;
  cpuacct?: string | undefined;
  pids?: string | undefined;
}

const NANOSECONDS_PER_MS = 1e6;
/** Enough for all concurrent connections of a cell to its gateway. */
const TCP_BUFFER_BYTES = 16 * 1024 * 1024;

export function createV1Driver(roots: V1Roots): CgroupDriver {
  const name = parentName();
  const parents = mapRoots(roots, (root) => join(root, name));
  return driverOf({
    version: 1,
    describe: `cgroup v1 (${controllerNames(parents).join(', ')})`,
    limitsPids: parents.pids !== undefined,
    noPids: {
      reason: 'there is no pids controller',
      fix: 'Mount the pids controller, or limit the processes with rlimits.',
    },
    countsCpu: parents.cpuacct !== undefined,
    directories: distinct(parents),
    roots: distinct(roots),
    plan: (group, limits) => planGroup(parents, group, limits),
  });
}

function planGroup(parents: V1Roots, name: string, limits: CgroupLimits): GroupPlan {
  const group = mapRoots(parents, (parent) => join(parent, name));
  const steps = {
    makeParents: () => distinct(parents).forEach(makeParent),
    setUp: () => setLimits(group, limits),
  };
  return { directories: distinct(group), steps, open: () => groupAt(group) };
}

/** The interface to an existing group. If it is used again, its counters stay open until it is removed. */
export function groupAt(group: V1Roots): Cgroup {
  const directories = distinct(group);
  const files = new KeptFiles();
  return {
    attach: (pid) => attachTo(directories, pid),
    members: () => membersOf(group.memory),
    usage: () => usageOf(group, files),
    limitTcp: (memory) => limitTcp(group.memory, memory),
    oomKilled: () => wasOomKilled(group.memory, files),
    kill: () => killGroup(group),
    renew: () => {
      files.keep();
      return renewGroup(group, files);
    },
    remove: () => {
      files.close();
      return removeWithRetries(directories);
    },
  };
}

function setLimits({ memory, pids }: V1Roots, limits: CgroupLimits): void {
  write(join(memory, 'memory.limit_in_bytes'), limits.memory);
  // The limit of memory plus swap must not be below the memory limit, so it is set second.
  const memoryAndSwap = join(memory, 'memory.memsw.limit_in_bytes');
  if (existsSync(memoryAndSwap)) write(memoryAndSwap, limits.memory);
  else writeIfPresent(join(memory, 'memory.swappiness'), 0);
  limitTcp(memory, limits.memory);
  if (pids !== undefined && limits.pids !== undefined) write(join(pids, 'pids.max'), limits.pids);
}

/** In v1, TCP buffers are counted separately from memory and are unlimited by default. */
function limitTcp(directory: string, memory: number): void {
  writeIfPresent(join(directory, 'memory.kmem.tcp.limit_in_bytes'), Math.min(memory, TCP_BUFFER_BYTES));
}

function usageOf({ memory, cpuacct }: V1Roots, files: KeptFiles): { cpuMs: number; memoryPeakBytes: number } {
  const peakOf = (counter: string): number =>
    files.number(join(memory, `${counter}.max_usage_in_bytes`)) ?? 0;
  return {
    cpuMs: cpuacct === undefined ? cpuMsOf(membersOf(memory)) : cpuMsFrom(cpuacct, files),
    memoryPeakBytes: peakOf('memory') + peakOf('memory.kmem.tcp'),
  };
}

function cpuMsFrom(cpuacct: string, files: KeptFiles): number {
  return (files.number(join(cpuacct, 'cpuacct.usage')) ?? 0) / NANOSECONDS_PER_MS;
}

function wasOomKilled(memory: string, files: KeptFiles): boolean {
  // Kernels before 4.13 do not count kills; a failed charge is the best indication there.
  const kills = fieldOf(files.read(join(memory, 'memory.oom_control')), 'oom_kill');
  return (kills ?? files.number(join(memory, 'memory.failcnt')) ?? 0) > 0;
}

function killGroup({ memory, pids }: V1Roots): void {
  // Prevents forks during the kill.
  if (pids !== undefined) writeIfPresent(join(pids, 'pids.max'), 0);
  killMembers(memory);
}

/** The pages that a zygote wrote while it was inside, which stay charged, and kernel memory that is freed later. */
const MAX_RESIDUE_BYTES = 1024 * 1024;

function renewGroup(group: V1Roots, files: KeptFiles): boolean {
  const { memory, cpuacct } = group;
  try {
    if (distinct(group).some((directory) => readText(join(directory, 'cgroup.procs')) !== '')) return false;
    if (wasOomKilled(memory, files)) return false;
    if ((files.number(join(memory, 'memory.usage_in_bytes')) ?? Infinity) > MAX_RESIDUE_BYTES) return false;
    files.write(join(memory, 'memory.max_usage_in_bytes'), 0);
    // Where kills are counted, failed charges are not asked for.
    for (const counter of ['memory.kmem.tcp.max_usage_in_bytes', 'memory.failcnt'])
      if (files.read(join(memory, counter)) !== undefined) files.write(join(memory, counter), 0);
    if (cpuacct !== undefined) files.write(join(cpuacct, 'cpuacct.usage'), 0);
    return true;
  } catch {
    return false;
  }
}

function mapRoots({ memory, cpuacct, pids }: V1Roots, change: (directory: string) => string): V1Roots {
  return { memory: change(memory), cpuacct: cpuacct && change(cpuacct), pids: pids && change(pids) };
}

function controllerNames(roots: V1Roots): string[] {
  return Object.entries(roots).flatMap(([name, directory]) => (directory === undefined ? [] : [name]));
}

/** Controllers may share one hierarchy, e.g. `cpu,cpuacct`. */
function distinct(roots: V1Roots): string[] {
  const all = [roots.memory, roots.cpuacct, roots.pids].filter((directory) => directory !== undefined);
  return [...new Set(all)];
}
