/**
 * The common parts of v1 and v2: the driver, and the directories that are groups.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillError } from '../../../errors.ts';
import { isDead, pidNamespace } from '../process-identity.ts';
import type { Cgroup, CgroupDriver, CgroupLimits } from './contract.ts';
import { errorCode, errorText } from './error-text.ts';

const PARENT_NAME = /^skillcell-(\d+)-(\d+)-\w+$/;
const GROUP_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
/** About a second in total: a killed process needs some time to free its memory. */
const REMOVE_DELAYS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 300, 400];

/** A name for the parent directory of all groups of one driver. The pid shows other hosts in its namespace if it is stale. */
export function parentName(): string {
  return `skillcell-${process.pid}-${pidNamespace() ?? 0}-${randomBytes(4).toString('hex')}`;
}

/** Creates a directory unless it exists. Not `recursive`, because Node then loops forever on ENOENT, e.g. in /proc. */
export function makeParent(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** A group that a driver is about to create. */
export interface GroupPlan {
  directories: readonly string[];
  steps: GroupSteps;
  open: () => Cgroup;
}

type DriverFacts = Omit<CgroupDriver, 'create' | 'createAsync' | 'sweepStale' | 'close'>;

interface DriverParts extends DriverFacts {
  /** Below these, parents of drivers that ended may lie. */
  roots: readonly string[];
  /** Why there may be no limit of processes, and what to do about it. */
  noPids: { reason: string; fix: string };
  plan: (name: string, limits: CgroupLimits) => GroupPlan;
}

/** Creating and removing groups is the same in both versions. */
export function driverOf({ roots, noPids, plan, ...facts }: DriverParts): CgroupDriver {
  const checked = (name: string, limits: CgroupLimits): GroupPlan => {
    checkRequest(name, limits);
    if (limits.pids !== undefined && !facts.limitsPids) throw pidsUnavailable(noPids);
    return plan(name, limits);
  };
  return {
    ...facts,
    create(name, limits) {
      const { directories, steps, open } = checked(name, limits);
      makeGroup(directories, steps);
      return open();
    },
    async createAsync(name, limits) {
      const { directories, steps, open } = checked(name, limits);
      await makeGroupAsync(directories, steps);
      return open();
    },
    sweepStale: () => sweepRoots(roots),
    close: () => removeWithRetries(facts.directories),
  };
}

interface GroupSteps {
  /** Creates the parents of the group. Only called if they are missing. */
  makeParents: () => void;
  setUp: () => void;
}

/** Creates the group's directories and sets them up; on failure none is left. */
function makeGroup(directories: readonly string[], { makeParents, setUp }: GroupSteps): void {
  const made: string[] = [];
  try {
    for (const directory of directories) {
      makeIn(directory, makeParents);
      made.push(directory);
    }
    setUp();
  } catch (error) {
    removeNow(made);
    throw cannotCreate(directories[0] ?? '', error);
  }
}

/** The same without blocking the event loop: the kernel may take milliseconds per directory. */
async function makeGroupAsync(
  directories: readonly string[],
  { makeParents, setUp }: GroupSteps,
): Promise<void> {
  try {
    await Promise.all(directories.map((directory) => makeInAsync(directory, makeParents)));
    setUp();
  } catch (error) {
    await removeAll(directories);
    throw cannotCreate(directories[0] ?? '', error);
  }
}

async function makeInAsync(directory: string, makeParents: () => void): Promise<void> {
  try {
    await mkdir(directory);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    makeParents();
    await mkdir(directory);
  }
}

function makeIn(directory: string, makeParents: () => void): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    makeParents();
    mkdirSync(directory);
  }
}

function cannotCreate(directory: string, cause: unknown): SkillError {
  return new SkillError('internal', `Cannot create the control group "${directory}": ${errorText(cause)}.`, {
    fix: 'Check that the control group is still writable with `skillcell doctor`.',
    cause,
  });
}

function checkRequest(name: string, limits: CgroupLimits): void {
  const { memory, pids = 1 } = limits;
  const isSane = [memory, pids].every((limit) => Number.isSafeInteger(limit) && limit > 0);
  if (isSane && GROUP_NAME.test(name)) return;
  throw new SkillError(
    'internal',
    `Bad control group request: name "${name}", limits ${JSON.stringify(limits)}.`,
    {
      fix: 'Use a plain name and positive whole numbers.',
    },
  );
}

function pidsUnavailable({ reason, fix }: DriverParts['noPids']): SkillError {
  const message = `No control group can limit the number of processes: ${reason}.`;
  return new SkillError('unenforceable', message, { fix, detail: { field: 'processes' } });
}

/** Tries once; true if none of the directories is left. */
export function removeNow(directories: readonly string[]): boolean {
  return directories.map(removeOne).every((gone) => gone);
}

function removeOne(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return !existsSync(directory);
  }
}

/** Retries until the kernel releases the directories; false if it does not within about a second. */
export async function removeWithRetries(directories: readonly string[]): Promise<boolean> {
  for (const delay of REMOVE_DELAYS_MS) {
    if (await removeAll(directories)) return true;
    await sleep(delay);
  }
  return removeAll(directories);
}

/** Asynchronous, because the kernel may take milliseconds per directory and this runs after most calls. */
async function removeAll(directories: readonly string[]): Promise<boolean> {
  const removed = directories.map((directory) =>
    rmdir(directory).then(
      () => true,
      () => !existsSync(directory),
    ),
  );
  return (await Promise.all(removed)).every((gone) => gone);
}

/** Removes parents whose process is dead, with their empty groups. */
function sweepRoots(roots: readonly string[]): string[] {
  return roots.flatMap((root) => {
    const parents = subdirectories(root).filter(isStaleParent);
    return parents.map((name) => join(root, name)).filter(removeParent);
  });
}

function isStaleParent(name: string): boolean {
  const [, pid, namespace] = PARENT_NAME.exec(name) ?? [];
  // A live pid of another namespace looks dead here, so those are skipped; a leftover only costs an empty directory.
  return pid !== undefined && namespace === pidNamespace() && isDead(Number(pid));
}

function removeParent(parent: string): boolean {
  removeNow(subdirectories(parent).map((name) => join(parent, name)));
  return removeNow([parent]);
}

function subdirectories(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}
