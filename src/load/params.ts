/**
 * The parameters of a call, checked before anything runs.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Skill } from './skill.ts';

/** More than any prompt or document; what is larger belongs into a file of the workspace. */
const MAX_PARAMS_BYTES = 8 * 1024 * 1024;

/** Throws `invalid_params` unless the parameters are JSON of a sane size that fits the skill's schema. */
export function assertFits(skill: Skill, params: unknown): void {
  const bytes = Buffer.byteLength(encode(params));
  if (bytes > MAX_PARAMS_BYTES) {
    throw invalid(
      `The parameters are ${bytes} bytes; the most is ${MAX_PARAMS_BYTES}`,
      'Pass large data as a file in the workspace.',
    );
  }
  const problems = skill.params.check(params);
  if (problems.length === 0) return;
  throw new SkillError('invalid_params', `The parameters do not fit the skill: ${problems.join('; ')}`, {
    fix: `See what it takes: skillcell inspect ${skill.bundle.manifest.name}`,
    detail: { problems },
  });
}

function encode(params: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(params);
    if (text !== undefined) return text;
  } catch (error) {
    throw invalid(
      `The parameters are no JSON: ${error instanceof Error ? error.message : String(error)}`,
      'Pass plain JSON data.',
    );
  }
  throw invalid('The parameters are no JSON value', 'Pass plain JSON data, such as {}.');
}

function invalid(message: string, fix: string): SkillError {
  return new SkillError('invalid_params', message, { fix });
}
