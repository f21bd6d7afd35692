/**
 * What a call came to, and whether that is what its case says, or the same as elsewhere.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { ErrorCode } from '../errors.ts';
import type { Outcome } from '../outcome.ts';
import type { SkillCase } from './cases.ts';

export type Answer = { kind: 'result'; value: unknown } | { kind: 'error'; code: ErrorCode; message: string };

const LONGEST = 300;

export function answerOf(outcome: Outcome): Answer {
  if (outcome.ok) return { kind: 'result', value: outcome.result };
  const { code, message } = outcome.error;
  return { kind: 'error', code, message };
}

/** How the answer differs from what the case says; undefined when it fits. */
export function misfit(answer: Answer, expected: SkillCase): string | undefined {
  if (answer.kind === 'error') {
    if (expected.error === undefined) return `failed with ${shown(answer)}`;
    if (answer.code !== expected.error) return `failed with ${shown(answer)} instead of ${expected.error}`;
    const isTold = expected.message === undefined || answer.message.includes(expected.message);
    return isTold ? undefined : `failed with ${shown(answer)} and does not say "${expected.message}"`;
  }
  if (expected.error !== undefined) return `gave ${shown(answer)} instead of ${expected.error}`;
  if (expected.result === undefined) return undefined;
  const wanted: Answer = { kind: 'result', value: expected.result };
  return isSame(answer, wanted, expected) ? undefined : `gave ${shown(answer)} instead of ${shown(wanted)}`;
}

/** The words of an error may differ from mode to mode, its code may not. */
export function isSame(a: Answer, b: Answer, of: Pick<SkillCase, 'ignore' | 'unordered'>): boolean {
  if (a.kind === 'error' || b.kind === 'error') {
    return a.kind === 'error' && b.kind === 'error' && a.code === b.code;
  }
  return isDeepStrictEqual(comparable(a.value, of), comparable(b.value, of));
}

export function shown(answer: Answer): string {
  const text =
    answer.kind === 'result' ? JSON.stringify(answer.value) : `${answer.code} (${answer.message.trim()})`;
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** Without what may differ, and with lists in one order where theirs means nothing. */
function comparable(
  value: unknown,
  { ignore = [], unordered = [] }: Pick<SkillCase, 'ignore' | 'unordered'>,
): unknown {
  // The order of keys is no part of JSON, and -0 is 0 there.
  const copy: unknown = JSON.parse(JSON.stringify(value));
  for (const path of ignore) change(copy, path, () => 'ignored');
  for (const path of unordered)
    change(copy, path, (found) =>
      Array.isArray(found) ? found.map((item) => JSON.stringify(item)).toSorted() : found,
    );
  return copy;
}

function change(value: unknown, path: string, edit: (found: unknown) => unknown): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((at: unknown, key) => (isMapping(at) ? at[key] : undefined), value);
  if (isMapping(parent) && Object.hasOwn(parent, last)) parent[last] = edit(parent[last]);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
