/**
 * Checks that apply to the parameters of every skill: valid JSON of a bounded size and depth.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { endOfString } from '../json-text.ts';

/** More than any prompt or document; larger data belongs in a file of the workspace. */
export const MAX_PARAMS_BYTES: number = 8 * 1024 * 1024;
/** Keeps recursive JSON code, here and in the cell, from overflowing its stack. */
const MAX_PARAMS_DEPTH = 128;

/** The parameters as JSON text. Throws `invalid_params` for values that JSON cannot represent. */
export function encodeParams(params: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(params);
    if (text !== undefined) return text;
  } catch (error) {
    throw notJson(error);
  }
  throw invalid('The parameters are not a JSON value', 'Pass plain JSON data, such as {}.');
}

export function notJson(error: unknown): SkillError {
  const reason = error instanceof Error ? error.message : String(error);
  return invalid(`The parameters are not valid JSON: ${reason}`, 'Pass plain JSON data.');
}

export function assertSize(bytes: number): void {
  if (bytes <= MAX_PARAMS_BYTES) return;
  throw invalid(
    `The parameters are ${bytes} bytes; the maximum is ${MAX_PARAMS_BYTES}`,
    'Pass large data as a file in the workspace.',
  );
}

/** Expects well-formed JSON text. */
export function assertDepth(text: string): void {
  if (depthOf(text) <= MAX_PARAMS_DEPTH) return;
  throw invalid(`The parameters are nested deeper than ${MAX_PARAMS_DEPTH} levels`, 'Pass flatter data.');
}

/** Other runtimes of legacy bundles check neither schema nor variables. */
export const UNCHECKED_ELSEWHERE =
  '. Skillware does not check this and would have run the skill; Skillcell checks it before every call';

/** Throws `invalid_params` if the check against the skill's schema found problems. */
export function assertFits(
  problems: readonly string[],
  skill: string,
  { isLegacy = false }: { isLegacy?: boolean } = {},
): void {
  if (problems.length === 0) return;
  throw new SkillError(
    'invalid_params',
    `The parameters do not match the skill's schema: ${problems.join('; ')}${isLegacy ? UNCHECKED_ELSEWHERE : ''}`,
    {
      fix: `To see its parameters, run: skillcell inspect ${skill}`,
      detail: { problems: [...problems] },
    },
  );
}

/** Levels of nesting in well-formed JSON text. Brackets inside strings do not count. */
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

function invalid(message: string, fix: string): SkillError {
  return new SkillError('invalid_params', message, { fix });
}
