/**
 * Identifies a process by more than its pid: by its start time, because pids are reused, and by its pid namespace, because
 * the same pid is another process elsewhere.
 *
 * @module
 */
import { readFileSync, readlinkSync } from 'node:fs';

/** Start time in ticks since boot; undefined if the process is gone. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may itself contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** The pid namespace of this process, as a number that is unique while it exists; undefined if unknown. */
export function pidNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

/** Only for pids of our own namespace. A process that we may not signal counts as alive. */
export function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
