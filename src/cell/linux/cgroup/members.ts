/**
 * The processes in a control group.
 *
 * @module
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './error-text.ts';
import { readText } from './files.ts';

/** Killing stops when a round finds no new process; this only bounds a very fast fork bomb. */
const MAX_KILL_ROUNDS = 1000;

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
