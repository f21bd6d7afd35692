/**
 * Runs host code on hostile input with an end: a regular expression, a schema or a document that
 * would take minutes is stopped by V8 itself, in the middle, on this thread.
 *
 * @module
 */
import { closeSync, openSync } from 'node:fs';
import vm from 'node:vm';

/** The work was stopped because it took too long. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

export type Guard = <T>(milliseconds: number, work: () => T) => T;

/**
 * Makes a guard. `vm` is used for its watchdog alone, which also ends backtracking inside a regular
 * expression; it isolates nothing here. One guard costs under a millisecond, one guarded call 0.2 ms.
 */
export function createGuard(): Guard {
  const sandbox: { work: (() => unknown) | undefined } = { work: undefined };
  const context = vm.createContext(sandbox);
  const script = new vm.Script('work()');
  return <T>(milliseconds: number, work: () => T): T => {
    assertDescriptors();
    sandbox.work = work;
    try {
      return script.runInContext(context, { timeout: milliseconds }) as T;
    } catch (error) {
      if (isTimeout(error)) throw new DeadlineError(`Stopped after ${milliseconds} ms`);
      throw error;
    } finally {
      sandbox.work = undefined;
    }
  };
}

/** What the watchdog opens for a loop of its own, with some to spare. */
const DESCRIPTORS = 8;

/** Node ends the whole process when it has no descriptors for its watchdog: an error is thrown instead. */
function assertDescriptors(): void {
  const taken: number[] = [];
  try {
    while (taken.length < DESCRIPTORS) taken.push(openSync('/dev/null', 'r'));
  } finally {
    for (const fd of taken) closeSync(fd);
  }
}

function isTimeout(error: unknown): boolean {
  // The error comes from the other realm: `instanceof` says nothing about it.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
