/**
 * Which process a pid means: when it began, for a pid alone is given out again, and in which pid namespace, for elsewhere the
 * same number is another process or none.
 *
 * @module
 */
import { readFileSync, readlinkSync } from 'node:fs';

/** In ticks since the machine started; undefined when the process is gone. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may itself hold spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** The pid namespace of this process, as a number that no other one has while it lives; undefined where that is not told. */
export function pidNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

/** Says nothing about pids of another namespace. A process that may not be seen is there: hidden, not dead. */
export function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
