/**
 * The common parts of v1 and v2: directories that are groups, and small files in them.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillError } from '../../../errors.ts';
import { isDead, pidNamespace } from '../process-identity.ts';
import type { CgroupLimits } from './contract.ts';

const PARENT_NAME = /^skillcell-(\d+)-(\d+)-\w+$/;
const GROUP_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
/** About a second in total: a killed process needs some time to free its memory. */
const REMOVE_DELAYS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 300, 400];
/** Killing stops when a round finds no new process; this only bounds a very fast fork bomb. */
const MAX_KILL_ROUNDS = 1000;

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

export interface GroupSteps {
  /** Creates the parents of the group. Only called if they are missing. */
  makeParents: () => void;
  setUp: () => void;
}

/** Creates the group's directories and sets them up; on failure none is left. */
export function makeGroup(directories: readonly string[], { makeParents, setUp }: GroupSteps): void {
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
export async function makeGroupAsync(
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

export function checkRequest(name: string, limits: CgroupLimits): void {
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
export function sweepRoots(roots: readonly string[]): string[] {
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

/** Moves the process into each directory. A dead process is ignored. */
export async function attachTo(directories: readonly string[], pid: number): Promise<void> {
  try {
    await Promise.all(
      directories.map((directory) => writeFile(join(directory, 'cgroup.procs'), String(pid))),
    );
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** Pids in a group. Processes of another pid namespace appear as 0, which must never be signalled. */
export function membersOf(directory: string): number[] {
  const text = readText(join(directory, 'cgroup.procs')) ?? '';
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Sends SIGKILL to all members, until no new ones appear. */
export function killMembers(directory: string): void {
  const killed = new Set([process.pid]);
  for (let round = 0; round < MAX_KILL_ROUNDS; round++) {
    const alive = membersOf(directory).filter((pid) => !killed.has(pid));
    if (alive.length === 0) return;
    for (const pid of alive) {
      killed.add(pid);
      killQuietly(pid);
    }
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

export function write(file: string, value: string | number): void {
  writeFileSync(file, String(value));
}

/** For settings that not every kernel has. */
export function writeIfPresent(file: string, value: string | number): void {
  if (existsSync(file)) write(file, value);
}

export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Reads a file with one number; undefined if it is missing. */
export function readNumber(file: string): number | undefined {
  const text = readText(file)?.trim();
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

/** Reads a `key number` line of a file; undefined if it is missing. */
export function readField(file: string, key: string): number | undefined {
  const line = readText(file)
    ?.split('\n')
    .find((one) => one.startsWith(`${key} `));
  return line === undefined ? undefined : Number(line.slice(key.length + 1));
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
