/**
 * Lowers the priority of cells below the host. The host serves all callers, enforces deadlines and brokers requests, so
 * when the CPU is scarce, a host that waits like a cell would slow down every call.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { SkillError } from '../../errors.ts';

const MAX_NICENESS = 19;

/** Checked early, because the kernel would refuse an invalid value when it is too late to report. */
export function checkedNiceness(niceness: number): number {
  if (Number.isInteger(niceness) && niceness >= 0 && niceness <= MAX_NICENESS) return niceness;
  throw new SkillError(
    'usage',
    `jail.niceness is "${niceness}", which is not a whole number from 0 to ${MAX_NICENESS}`,
    {
      fix: 'Remove it, or set it to 15 as `skillcell serve` does.',
    },
  );
}

/** Call it before the process starts children, which inherit the priority. */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined || niceness === 0) return;
  try {
    setPriority(pid, niceness);
  } catch {
    // The process has exited, which is handled elsewhere.
  }
}

/**
 * With autogroups, Linux divides CPU time between sessions before processes, and a cell has its own session. Call it
 * after the session was created.
 */
export function lowerSession(pid: number, niceness: number): void {
  if (niceness === 0) return;
  try {
    const file = `/proc/${pid}/autogroup`;
    // In the host's own session, this would lower the host's priority too.
    if (readFileSync(file, 'utf8') !== readFileSync('/proc/self/autogroup', 'utf8'))
      writeFileSync(file, String(niceness));
  } catch {
    // This kernel has no autogroups, or limits how often a user without root may change them.
  }
}
