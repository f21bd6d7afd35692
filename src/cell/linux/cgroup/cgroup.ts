/**
 * Probes whether control groups can be used here, and if not, why.
 *
 * @module
 */
import { accessSync, constants } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Cgroup, CgroupDriver } from './contract.ts';
import { removeNow } from './directories.ts';
import { errorText } from './error-text.ts';
import { readText, write } from './files.ts';
import { isOwnScope, moveToLeaf } from './delegation.ts';
import { locateOwnCgroups } from './own-cgroup.ts';
import type { OwnCgroups } from './own-cgroup.ts';
import { createV1Driver, groupAt as v1GroupAt } from './v1.ts';
import { createV2Driver, groupAt as v2GroupAt, delegatedControllers } from './v2.ts';

export type { Cgroup, CgroupDriver, CgroupLimits } from './contract.ts';

/** Either a tested driver, or why there is none: one sentence per attempt. */
export type CgroupProbe = { driver: CgroupDriver } | { driver?: undefined; reason: string };

const TRIAL_NAME = 'trial';
const TRIAL_MEMORY = 64 * 1024 * 1024;

/** The usable control groups, or undefined; `examineCgroups` reports why. */
export function probeCgroups(): CgroupDriver | undefined {
  return examineCgroups().driver;
}

/** Tries v2, then v1, with a real group that is removed again. By default, starts from this process's own groups. */
export function examineCgroups(own: OwnCgroups = readOwnCgroups()): CgroupProbe {
  const v2 = attemptV2(own);
  if (v2.driver) return v2;
  const v1 = attemptV1(own);
  return v1.driver ? v1 : { reason: `${v2.reason} ${v1.reason}` };
}

/** The group of a process that another program created, for reading only: `remove` does nothing. Undefined if not visible. */
export function groupAround(pid: number): Cgroup | undefined {
  const { v1, v2 } = locateOwnCgroups(
    readText(`/proc/${pid}/cgroup`) ?? '',
    readText('/proc/self/mountinfo') ?? '',
  );
  const memory = v1.get('memory');
  const group =
    memory === undefined ? v2 && v2GroupAt(v2.own) : v1GroupAt({ memory, cpuacct: v1.get('cpuacct') });
  return group && { ...group, remove: async () => true };
}

function readOwnCgroups(): OwnCgroups {
  return locateOwnCgroups(readText('/proc/self/cgroup') ?? '', readText('/proc/self/mountinfo') ?? '');
}

function attemptV1(own: OwnCgroups): CgroupProbe {
  const memory = own.v1.get('memory');
  if (memory === undefined) return { reason: 'The v1 memory controller is not mounted.' };
  const [cpuacct, pids] = [own.v1.get('cpuacct'), own.v1.get('pids')];
  // A read-only optional hierarchy must not prevent the memory limit.
  const choices = [{ memory, cpuacct, pids }, { memory, cpuacct }, { memory, pids }, { memory }];
  let attempt: CgroupProbe = { reason: '' };
  for (const roots of choices) {
    attempt = tryDriver(createV1Driver(roots));
    if (attempt.driver) break;
  }
  return attempt;
}

function attemptV2({ v2 }: OwnCgroups): CgroupProbe {
  if (v2 === undefined) return { reason: 'The unified (v2) hierarchy is not mounted.' };
  const { own, top } = v2;
  if (!hasMemory(own)) return { reason: `The v2 group "${own}" has no memory controller.` };
  const problem = delegateMemory(own);
  if (problem === undefined) return tryDriverV2(own);
  if (isOwnScope(own) && moveToLeaf(own) && delegateMemory(own) === undefined) return tryDriverV2(own);
  // Our parent works too, without changes, if it already delegates memory to its children.
  const beside = dirname(own);
  if (own !== top && delegatedControllers(beside).includes('memory')) return tryDriverV2(beside);
  return { reason: problem };
}

function hasMemory(directory: string): boolean {
  return (readText(join(directory, 'cgroup.controllers')) ?? '').trim().split(' ').includes('memory');
}

/** Gives the children of this group the memory controller. Returns why not if that fails. */
function delegateMemory(own: string): string | undefined {
  if (delegatedControllers(own).includes('memory')) return undefined;
  const file = join(own, 'cgroup.subtree_control');
  try {
    write(file, '+memory');
    if ((readText(join(own, 'cgroup.controllers')) ?? '').split(/\s/).includes('pids')) write(file, '+pids');
    return undefined;
  } catch (error) {
    return `The v2 group "${own}" cannot delegate the memory controller (a group with processes may not): ${errorText(error)}.`;
  }
}

function tryDriverV2(root: string): CgroupProbe {
  try {
    // To move a process, the kernel requires write access to the common ancestor of both groups.
    accessSync(join(root, 'cgroup.procs'), constants.W_OK);
  } catch (error) {
    return { reason: `Processes cannot be moved below the v2 group "${root}": ${errorText(error)}.` };
  }
  return tryDriver(createV2Driver(root));
}

/** Creates, limits and reads one group without attaching a process, and removes it. */
function tryDriver(driver: CgroupDriver): CgroupProbe {
  const directories = driver.directories.map((directory) => join(directory, TRIAL_NAME));
  try {
    const group = driver.create(TRIAL_NAME, { memory: TRIAL_MEMORY, ...(driver.limitsPids && { pids: 8 }) });
    group.members();
    group.usage();
    return removeNow(directories)
      ? { driver }
      : { reason: `The trial group "${directories[0]}" could not be removed.` };
  } catch (error) {
    return { reason: errorText(error) };
  } finally {
    removeNow(driver.directories);
  }
}
