/**
 * Tasks that a hostile input leads to, without the input.
 *
 * @module
 */
import { SkillError } from '../../src/errors.ts';
import type { Tasks } from '../../src/offload/task.ts';

export const tasks: Tasks = {
  echo: (input: { value: unknown }) => input,
  backtrack: ({ pattern }: { pattern: string }) => new RegExp(pattern).test(`${'a'.repeat(60)}!`),
  fill: () => {
    const held: unknown[] = [];
    for (;;) held.push(Array(1_000_000).fill('x'));
  },
  fail: ({ skill }: { skill: boolean }) => {
    if (skill) throw new SkillError('manifest_invalid', 'wrong', { fix: 'Mend it.', detail: { at: 3 } });
    throw new Error('plain');
  },
  bytes: ({ bytes }: { bytes: Uint8Array }) => ({ bytes: bytes.map((byte) => byte + 1) }),
  environment: () => Object.keys(process.env),
};
