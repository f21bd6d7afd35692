/**
 * When a process began: with its pid that is a name for good, for a pid alone is given out again.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

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
