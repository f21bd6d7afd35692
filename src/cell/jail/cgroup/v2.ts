/**
 * Control groups v2: one hierarchy, where a group with processes of its own cannot hand controllers down.
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
  makeGroupSoon,
  makeParent,
  membersOf,
  parentName,
  readField,
  readNumber,
  readText,
  removeSoon,
  sweepRoots,
  write,
  writeIfPresent,
  type GroupSteps,
} from './directories.ts';

const MICROSECONDS_PER_MS = 1000;

/** `root` must already hand the memory controller down to its children. */
export function createV2Driver(root: string): CgroupDriver {
  const controllers = handedDown(root);
  const parent = join(root, parentName());
  const limitsPids = controllers.includes('pids');
  const planGroup = (name: string, limits: CgroupLimits): { directory: string; steps: GroupSteps } => {
    checkRequest(name, limits);
    if (limits.pids !== undefined && !limitsPids) throw pidsUnavailable();
    const directory = join(parent, name);
    const steps = {
      makeParents: () => handDown(parent, limitsPids),
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
    async createSoon(name, limits) {
      const { directory, steps } = planGroup(name, limits);
      await makeGroupSoon([directory], steps);
      return groupAt(directory);
    },
    sweepStale: () => sweepRoots([root]),
    close: () => removeSoon([parent]),
  };
}

/** The controllers that children of this group get. */
export function handedDown(directory: string): string[] {
  return (readText(join(directory, 'cgroup.subtree_control')) ?? '').trim().split(' ');
}

function handDown(parent: string, withPids: boolean): void {
  makeParent(parent);
  if (handedDown(parent).includes('memory')) return;
  write(join(parent, 'cgroup.subtree_control'), withPids ? '+memory +pids' : '+memory');
}

/** The face of a group that is there. */
export function groupAt(directory: string): Cgroup {
  return {
    attach: (pid) => attachTo([directory], pid),
    members: () => membersOf(directory),
    usage: () => usageOf(directory),
    oomKilled: () => (readField(join(directory, 'memory.events'), 'oom_kill') ?? 0) > 0,
    kill: () => killGroup(directory),
    remove: () => removeSoon([directory]),
  };
}

function setLimits(directory: string, limits: CgroupLimits): void {
  write(join(directory, 'memory.max'), limits.memory);
  writeIfPresent(join(directory, 'memory.swap.max'), 0);
  // A cell that has lost one of its processes is of no use: end it as a whole. The zygote is in the group of a fork at
  // first, and has to stay.
  if (limits.endTogether !== false) writeIfPresent(join(directory, 'memory.oom.group'), 1);
  if (limits.pids !== undefined) write(join(directory, 'pids.max'), limits.pids);
}

function usageOf(directory: string): { cpuMs: number; memoryPeakBytes: number } {
  // memory.peak came with Linux 5.19; before it only the present value is known.
  const peak = readNumber(join(directory, 'memory.peak')) ?? readNumber(join(directory, 'memory.current'));
  const microseconds = readField(join(directory, 'cpu.stat'), 'usage_usec') ?? 0;
  return { cpuMs: microseconds / MICROSECONDS_PER_MS, memoryPeakBytes: peak ?? 0 };
}

function killGroup(directory: string): void {
  // cgroup.kill came with Linux 5.14 and leaves nobody out.
  writeIfPresent(join(directory, 'cgroup.kill'), 1);
  killMembers(directory);
}

function pidsUnavailable(): SkillError {
  return new SkillError(
    'unenforceable',
    'No control group can limit the number of processes: the pids controller is not delegated.',
    {
      fix: 'Delegate the pids controller, or let rlimits limit the processes.',
      detail: { field: 'processes' },
    },
  );
}
