/**
 * Cells that step back. The host answers everybody, holds the deadlines and does what cells ask for: where all wait for
 * the CPU, a host that waits like one of them makes every call of every skill slow.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { SkillError } from '../../errors.ts';

const MOST = 19;

/** The kernel would refuse others when it is too late to say so. */
export function checkedNiceness(niceness: number): number {
  if (Number.isInteger(niceness) && niceness >= 0 && niceness <= MOST) return niceness;
  throw new SkillError('usage', `jail.niceness is ${niceness}, which is no whole number from 0 to ${MOST}`, {
    fix: 'Leave it out, or set it to 15 as `skillcell serve` does.',
  });
}

/** To be called before the process starts others: they inherit it. */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined || niceness === 0) return;
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended, which is noticed elsewhere.
  }
}

/**
 * Linux may weigh sessions against each other before it looks at processes, and a cell is a session of its own. To be
 * called when it is one.
 */
export function lowerSession(pid: number, niceness: number): void {
  if (niceness === 0) return;
  try {
    const file = `/proc/${pid}/autogroup`;
    // One that is still in the host's session would take the host along.
    if (readFileSync(file, 'utf8') !== readFileSync('/proc/self/autogroup', 'utf8'))
      writeFileSync(file, String(niceness));
  } catch {
    // This kernel has no such groups, or is asked too often by somebody who is not root.
  }
}
