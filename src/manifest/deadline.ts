/**
 * Runs host code on hostile input with a deadline: V8 itself interrupts a regular expression, a schema check or a parser
 * that would take minutes, on this thread.
 *
 * @module
 */
import { closeSync, openSync } from 'node:fs';
import vm from 'node:vm';
import { SkillError } from '../errors.ts';

/** Thrown if the work was stopped because it took too long. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** `work` may run several times, so it must not change anything. */
export type Guard = <T>(milliseconds: number, work: () => T) => T;

/** Part of the deadline that counts as all of it, because the watchdog measures wall-clock time and starts a bit late. */
const ENOUGH = 0.8;
/** Upper bound in wall-clock time, as a multiple of the deadline, for a thread that gets little CPU time. */
const MAX_DEADLINES = 30;
/** A try may have more wall-clock time than the one before by this factor. */
const MAX_GROWTH = 8;

/**
 * Creates a guard. `vm` is used only for its watchdog, which also interrupts backtracking inside a regular
 * expression; it isolates nothing here. One guard costs under a millisecond, one guarded call 0.2 ms.
 *
 * V8 cannot continue what it interrupted. If other programs had the CPU meanwhile, the work is not to blame and starts again
 * with more time; otherwise a busy machine would refuse harmless input.
 */
export function createGuard(): Guard {
  const sandbox: { work: (() => unknown) | undefined } = { work: undefined };
  const context = vm.createContext(sandbox);
  const script = new vm.Script('work()');
  const runTries = (milliseconds: number): unknown => {
    const end = performance.now() + MAX_DEADLINES * milliseconds;
    for (let timeout = milliseconds; ;) {
      const before = threadCpuMs();
      try {
        return script.runInContext(context, { timeout });
      } catch (error) {
        if (!isTimeout(error)) throw error;
        const used = threadCpuMs() - before;
        if (used >= ENOUGH * milliseconds) throw new DeadlineError(`Stopped after ${milliseconds} ms`);
        const left = end - performance.now();
        if (left <= 0) throw busyMachine();
        const growth = Math.min(MAX_GROWTH, milliseconds / used);
        timeout = Math.ceil(Math.min(left, timeout * growth));
      }
    }
  };
  return <T>(milliseconds: number, work: () => T): T => {
    assertDescriptors();
    sandbox.work = work;
    try {
      return runTries(milliseconds) as T;
    } finally {
      sandbox.work = undefined;
    }
  };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Not a finding about the input, so nobody may remember it as one. */
function busyMachine(): SkillError {
  return new SkillError('resource_exceeded', 'The machine is too busy to finish a check of the skill', {
    fix: 'Try again later.',
    detail: { limit: 'busy' },
  });
}

/** Descriptors that the watchdog opens for its own event loop, with some to spare. */
const DESCRIPTORS = 8;

/** Throws if descriptors are short: Node would abort the whole process if its watchdog got none. */
function assertDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync('/dev/null', 'r'));
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function isTimeout(error: unknown): boolean {
  // The error comes from another realm, so `instanceof` does not work.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
