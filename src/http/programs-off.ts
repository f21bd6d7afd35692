/**
 * The refusal of a service that runs no programs.
 *
 * @module
 */
import { SkillError } from '../inside.ts';

export function programsOff(): SkillError {
  return new SkillError('untrusted', 'This service runs no programs', {
    fix: 'Call skills one by one, or have the operator start it with --programs.',
  });
}
