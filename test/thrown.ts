/**
 * Returns the error that an action throws, to check its code, message and fix together.
 *
 * @module
 */
import { SkillError } from '../src/errors.ts';

/** Fails the test if nothing is thrown, or an error of another class. */
export function thrownBy(action: () => unknown): SkillError {
  return thrownOf(SkillError, action);
}

/** The same for a promise. */
export async function rejectionOf(work: Promise<unknown>): Promise<SkillError> {
  const error = await work.then(
    (value: unknown) => new Error(`Expected a SkillError, but got ${String(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof SkillError) return error;
  throw error;
}

export function thrownOf<Thrown extends Error>(
  expected: abstract new (...args: never[]) => Thrown,
  action: () => unknown,
): Thrown {
  try {
    action();
  } catch (error) {
    if (error instanceof expected) return error;
    throw error;
  }
  throw new Error(`Expected a ${expected.name}, but nothing was thrown`);
}
