/**
 * Serializes the result of a skill as JSON, or says precisely why that is impossible.
 *
 * @module
 */

/** Captured before the skill could change it. */
const { stringify } = JSON;
/** Maximum number of values searched to name the place. */
const MAX_DEPTH = 200;

/** The result is not JSON; the message says which part and why. */
export class NotJson extends Error {}

export function toJson(result: unknown): string {
  // A function without a return statement returns undefined.
  if (result === undefined) return 'null';
  let text: string | undefined;
  try {
    text = stringify(result);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be serialized as JSON';
    throw new NotJson(firstProblem(result, 'result', new Set()) ?? reason, { cause: error });
  }
  if (text === undefined)
    throw new NotJson(`the result is of type ${typeof result}, which JSON does not have`);
  // Numbers that JSON does not have silently become null; most results have none.
  const problem = text.includes('null') ? firstProblem(result, 'result', new Set()) : undefined;
  if (problem !== undefined) throw new NotJson(problem);
  return text;
}

function firstProblem(value: unknown, where: string, above: Set<object>): string | undefined {
  if (typeof value === 'bigint') return `${where} is of type bigint, which JSON does not have`;
  if (typeof value === 'number' && !Number.isFinite(value))
    return `${where} is ${value}, which JSON does not have`;
  if (typeof value !== 'object' || value === null) return undefined;
  if (above.has(value)) return `${where} contains itself`;
  if (above.size >= MAX_DEPTH) return undefined;
  above.add(value);
  for (const [key, item] of Object.entries(value)) {
    const problem = firstProblem(item, Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`, above);
    if (problem !== undefined) return problem;
  }
  above.delete(value);
  return undefined;
}
