/**
 * Control groups v2: a single hierarchy, in which a group with processes cannot delegate controllers.
 *
 * @module
 */
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Cgroup, CgroupDriver, CgroupLimits } from './contract.ts';
import {
  attachTo,
  checkRequest,
  killMembers,
  makeGroup,
  makeGroupAsync,
  makeParent,
  membersOf,
  parentName,
  readField,
  readNumber,
  readText,
  removeWithRetries,
  sweepRoots,
  write,
  writeIfPresent,
  type GroupSteps,
} from './directories.ts';

const MICROSECONDS_PER_MS = 1000;

/** `root` must already delegate the memory controller to its children. */
export function createV2Driver(root: string): CgroupDriver {
  const controllers = delegatedControllers(root);
  const parent = join(root, parentName());
  const limitsPids = controllers.includes('pids');
  const planGroup = (name: string, limits: CgroupLimits): { directory: string; steps: GroupSteps } => {
    checkRequest(name, limits);
    if (limits.pids !== undefined && !limitsPids) throw pidsUnavailable();
    const directory = join(parent, name);
    const steps = {
      makeParents: () => delegate(parent, limitsPids),
      setUp: () => setLimits(directory, limits),
    };
    return { directory, steps };
  };
  return {
    version: 2,
    describe: `cgroup v2 (${['memory', ...(limitsPids ? ['pids'] : [])].join(', ')})`,
    limitsPids,
    countsCpu: true,
    directories: [parent],
    create(name, limits) {
      const { directory, steps } = planGroup(name, limits);
      makeGroup([directory], steps);
      return groupAt(directory);
    },
    async createAsync(name, limits) {
      const { directory, steps } = planGroup(name, limits);
      await makeGroupAsync([directory], steps);
      return groupAt(directory);
    },
    sweepStale: () => sweepRoots([root]),
    close: () => removeWithRetries([parent]),
  };
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

function pidsUnavailable(): SkillError {
  return new SkillError(
    'unenforceable',
    'No control group can limit the number of processes: the pids controller is not delegated.',
    {
      fix: 'Delegate the pids controller, or limit the processes with rlimits.',
      detail: { field: 'processes' },
    },
  );
}
