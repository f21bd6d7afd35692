/**
 * Converts names of skills to names of tools that every provider accepts: letters, digits, `_` and `-`, a letter first, at
 * most 64 characters. The conversion is reversible, and no two skills share a name.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { skillNameProblem } from '../manifest/names.ts';

const MAX_LENGTH = 64;
const DIGEST_LENGTH = 16;
/** Skill names are in lower case, so a capital letter is unambiguous. */
const SHORTENED = /H[0-9a-f]{16}$/;

/** Converts the name of a skill to that of a tool: `text/word_stats` becomes `text__word_stats`. */
export function toolName(skill: string): string {
  const [category = '', name = ''] = skill.split('/');
  const whole = `${/^\d/.test(category) ? 'N' : ''}${escapeUnderscores(category)}__${escapeUnderscores(name)}`;
  if (whole.length <= MAX_LENGTH) return whole;
  const digest = createHash('sha256').update(skill).digest('hex').slice(0, DIGEST_LENGTH);
  return `${whole.slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)}H${digest}`;
}

/** The skill behind a tool; undefined if the name was shortened, or is not one of ours. */
export function skillName(tool: string): string | undefined {
  if (SHORTENED.test(tool)) return undefined;
  const skill = tool
    .replace(/^N(?=\d)/, '')
    .replace('__', '/')
    .replaceAll('U', '_');
  return skillNameProblem(skill) === undefined && toolName(skill) === tool ? skill : undefined;
}

/** A double underscore separates category and name, so within them every underscore after another becomes `U`. */
function escapeUnderscores(segment: string): string {
  return segment.replaceAll(/(?<=_)_/g, 'U');
}
