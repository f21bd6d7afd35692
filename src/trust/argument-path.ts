/**
 * A small subset of JSONPath for naming arguments: keys, indices and `[*]`. No filters and no recursion, so that
 * hostile arguments cannot make it slow.
 *
 * @module
 */

type Step = { key: string } | { index: number } | 'each';

const STEP = /\.([A-Za-z_][\w-]*)|\[(\d{1,9})\]|\[(\*)\]|\["((?:[^"\\]|\\["\\])*)"\]/y;

export function isArgumentPath(path: string): boolean {
  return parsePath(path) !== undefined;
}

/** Every value at the path; empty if there is none. */
export function valuesAt(path: string, root: unknown): unknown[] {
  const steps = parsePath(path);
  if (!steps) return [];
  return steps.reduce<unknown[]>(
    (values, step) => values.flatMap((value) => childrenAt(value, step)),
    [root],
  );
}

function parsePath(path: string): Step[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const match = STEP.exec(path);
    if (!match) return undefined;
    steps.push(stepOf(match));
  }
  return steps;
}

function stepOf([, key, index, each, quoted]: RegExpExecArray): Step {
  if (each !== undefined) return 'each';
  if (index !== undefined) return { index: Number(index) };
  return { key: key ?? (quoted ?? '').replaceAll(/\\(["\\])/g, '$1') };
}

/** Own properties only, so that a name like `constructor` has no special meaning. */
function childrenAt(value: unknown, step: Step): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (step === 'each') return Object.values(value);
  if ('index' in step) return Array.isArray(value) && step.index < value.length ? [value[step.index]] : [];
  return Object.hasOwn(value, step.key) ? [(value as Record<string, unknown>)[step.key]] : [];
}
