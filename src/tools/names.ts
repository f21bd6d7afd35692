/**
 * Names of skills as names of tools. One spelling fits every provider: letters, digits, `_` and `-`, a letter first, 64
 * characters at most. It can be turned back, and no two skills share one.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { skillNameProblem } from '../manifest/names.ts';

const MAX_LENGTH = 64;
const DIGEST_LENGTH = 16;
/** Names of skills are in lower case, so a capital letter can always be told from them. */
const SHORTENED = /H[0-9a-f]{16}$/;

/** `text/word_stats` is `text__word_stats`. */
export function toolName(skill: string): string {
  const [category = '', name = ''] = skill.split('/');
  const whole = `${/^\d/.test(category) ? 'N' : ''}${spelled(category)}__${spelled(name)}`;
  if (whole.length <= MAX_LENGTH) return whole;
  const digest = createHash('sha256').update(skill).digest('hex').slice(0, DIGEST_LENGTH);
  return `${whole.slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)}H${digest}`;
}

/** The skill behind a tool, for a name that is not shortened; undefined for one that is, or that is none of ours. */
export function skillName(tool: string): string | undefined {
  if (SHORTENED.test(tool)) return undefined;
  const skill = tool
    .replace(/^N(?=\d)/, '')
    .replace('__', '/')
    .replaceAll('U', '_');
  return skillNameProblem(skill) === undefined && toolName(skill) === tool ? skill : undefined;
}

/** Two underscores part the category from the name; inside of them the second and every further one is a `U`. */
function spelled(segment: string): string {
  return segment.replaceAll(/(?<=_)_/g, 'U');
}
