/**
 * Control groups v2: a single hierarchy, in which a group with processes cannot delegate controllers.
 *
 * @module
 */
import { join } from 'node:path';
import type { Cgroup, CgroupDriver, CgroupLimits } from './contract.ts';
import { driverOf, makeParent, parentName, removeWithRetries, type GroupPlan } from './directories.ts';
import { readField, readNumber, readText, write, writeIfPresent } from './files.ts';
import { attachTo, killMembers, membersOf } from './members.ts';

const MICROSECONDS_PER_MS = 1000;

/** `root` must already delegate the memory controller to its children. */
export function createV2Driver(root: string): CgroupDriver {
  const controllers = delegatedControllers(root);
  const parent = join(root, parentName());
  const limitsPids = controllers.includes('pids');
  const plan = (name: string, limits: CgroupLimits): GroupPlan => {
    const directory = join(parent, name);
    const steps = {
      makeParents: () => delegate(parent, limitsPids),
      setUp: () => setLimits(directory, limits),
    };
    return { directories: [directory], steps, open: () => groupAt(directory) };
  };
  return driverOf({
    version: 2,
    describe: `cgroup v2 (${['memory', ...(limitsPids ? ['pids'] : [])].join(', ')})`,
    limitsPids,
    noPids: {
      reason: 'the pids controller is not delegated',
      fix: 'Delegate the pids controller, or limit the processes with rlimits.',
    },
    countsCpu: true,
    directories: [parent],
    roots: [root],
    plan,
  });
}

/** The controllers that this group delegates to its children. */
export function delegatedControllers(directory: string): string[] {
  return (readText(join(directory, 'cgroup.subtree_control')) ?? '').trim().split(' ');
}

function delegate(parent: string, withPids: boolean): void {
  makeParent(parent);
  if (delegatedControllers(parent).includes('memory')) return;
  write(join(parent, 'cgroup.subtree_control'), withPids ? '+memory +pids' : '+memory');
}

/** The interface to an existing group. */
export function groupAt(directory: string): Cgroup {
  return {
    attach: (pid) => attachTo([directory], pid),
    members: () => membersOf(directory),
    usage: () => usageOf(directory),
    oomKilled: () => (readField(join(directory, 'memory.events'), 'oom_kill') ?? 0) > 0,
    kill: () => killGroup(directory),
    remove: () => removeWithRetries([directory]),
  };
}

function setLimits(directory: string, limits: CgroupLimits): void {
  write(join(directory, 'memory.max'), limits.memory);
  writeIfPresent(join(directory, 'memory.swap.max'), 0);
  // A cell that lost a process is useless, so the whole group is killed. Not for forks: their group contains the zygote
  // at first, which must survive.
  if (limits.killTogether !== false) writeIfPresent(join(directory, 'memory.oom.group'), 1);
  if (limits.pids !== undefined) write(join(directory, 'pids.max'), limits.pids);
}

function usageOf(directory: string): { cpuMs: number; memoryPeakBytes: number } {
  // memory.peak exists since Linux 5.19; older kernels only report the current value.
  const peak = readNumber(join(directory, 'memory.peak')) ?? readNumber(join(directory, 'memory.current'));
  const microseconds = readField(join(directory, 'cpu.stat'), 'usage_usec') ?? 0;
  return { cpuMs: microseconds / MICROSECONDS_PER_MS, memoryPeakBytes: peak ?? 0 };
}

function killGroup(directory: string): void {
  // cgroup.kill exists since Linux 5.14 and kills all members atomically.
  writeIfPresent(join(directory, 'cgroup.kill'), 1);
  killMembers(directory);
}
