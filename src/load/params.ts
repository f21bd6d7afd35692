/**
 * What parameters must be, whatever the skill: JSON of a sane size and depth.
 *
 * @module
 */
import { SkillError } from '../errors.ts';

/** More than any prompt or document; what is larger belongs into a file of the workspace. */
export const MAX_PARAMS_BYTES: number = 8 * 1024 * 1024;
/** What works on JSON by recursion, here and in the cell, must not be led to the end of its stack. */
const MAX_PARAMS_DEPTH = 128;

/** The parameters as JSON text. Throws `invalid_params` for what JSON cannot say. */
export function encodeParams(params: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(params);
    if (text !== undefined) return text;
  } catch (error) {
    throw notJson(error);
  }
  throw invalid('The parameters are no JSON value', 'Pass plain JSON data, such as {}.');
}

export function notJson(error: unknown): SkillError {
  const reason = error instanceof Error ? error.message : String(error);
  return invalid(`The parameters are no JSON: ${reason}`, 'Pass plain JSON data.');
}

export function assertSize(bytes: number): void {
  if (bytes <= MAX_PARAMS_BYTES) return;
  throw invalid(
    `The parameters are ${bytes} bytes; the most is ${MAX_PARAMS_BYTES}`,
    'Pass large data as a file in the workspace.',
  );
}

/** Of well-formed JSON text. */
export function assertDepth(text: string): void {
  if (depthOf(text) <= MAX_PARAMS_DEPTH) return;
  throw invalid(`The parameters are nested deeper than ${MAX_PARAMS_DEPTH} levels`, 'Pass flatter data.');
}

/** Throws `invalid_params` when a check against the schema of the skill has found problems. */
export function assertFits(problems: readonly string[], skill: string): void {
  if (problems.length === 0) return;
  throw new SkillError('invalid_params', `The parameters do not fit the skill: ${problems.join('; ')}`, {
    fix: `See what it takes: skillcell inspect ${skill}`,
    detail: { problems: [...problems] },
  });
}

/** Levels of nesting in well-formed JSON text; what stands in strings is none. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === '"') at = endOfString(text, at);
    else if (mark === '[' || mark === '{') deepest = Math.max(deepest, ++depth);
    else if (mark === ']' || mark === '}') depth--;
  }
  return deepest;
}

/** Place of the closing quote: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first--;
    if ((end - first) % 2 === 0) return end;
  }
}

function invalid(message: string, fix: string): SkillError {
  return new SkillError('invalid_params', message, { fix });
}
