/**
 * Tasks that behave as if their input were hostile.
 *
 * @module
 */
import { SkillError } from '../../src/errors.ts';
import type { Tasks } from '../../src/offload/task.ts';

export const tasks: Tasks = {
  echo: (input: { value: unknown }) => input,
  backtrack: ({ pattern }: { pattern: string }) => new RegExp(pattern).test(`${'a'.repeat(60)}!`),
  /** Waits without using the CPU, like a thread that is rarely scheduled. */
  sleep: ({ ms }: { ms: number }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return 'slept';
  },
  fill: () => {
    const held: unknown[] = [];
    for (;;) held.push(Array(1_000_000).fill('x'));
  },
  fail: ({ skill }: { skill: boolean }) => {
    if (skill) throw new SkillError('manifest_invalid', 'wrong', { fix: 'Mend it.', detail: { at: 3 } });
    throw new Error('plain');
  },
  /** Ends its thread in the middle of the task. */
  exit: () => process.exit(3),
  /** Finishes, and its thread throws afterwards. */
  throwLater: () => {
    setTimeout(() => {
      throw new Error('thrown outside of any task');
    });
    return 'done';
  },
  /** Returns a value that cannot be sent. */
  unsendable: () => ({ call: () => 1 }),
  bytes: ({ bytes }: { bytes: Uint8Array }) => ({ bytes: bytes.map((byte) => byte + 1) }),
  environment: () => Object.keys(process.env),
};
