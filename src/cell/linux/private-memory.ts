/**
 * Memory that a process has to itself. What it shares with others, such as its program, would not be freed with it.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

const BYTES_PER_KB = 1024;

/** Undefined if the process is gone. */
export function privateBytes(pid: number | undefined): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kilobytes = [...status.matchAll(/^(?:RssAnon|RssShmem|VmPTE):\s+(\d+) kB/gm)];
    return kilobytes.reduce((sum, [, figure]) => sum + Number(figure) * BYTES_PER_KB, 0);
  } catch {
    return undefined;
  }
}
