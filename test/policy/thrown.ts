/**
 * The SkillError that an action throws, to look at its code, message and fix at once.
 *
 * @module
 */
import { SkillError } from '../../src/errors.ts';

export function thrownBy(action: () => unknown): SkillError {
  try {
    action();
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
  throw new Error('Expected a SkillError, but nothing was thrown');
}
