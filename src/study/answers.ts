/**
 * Answers of calls, compared with what a test case expects or with the answers in other modes.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { ErrorCode } from '../vocabulary/error-codes.ts';
import type { Outcome } from '../outcome.ts';
import type { SkillCase } from './cases.ts';

/** The result or error of a call, for comparison. */
export type Answer = { kind: 'result'; value: unknown } | { kind: 'error'; code: ErrorCode; message: string };

const MAX_SHOWN = 300;

/** The answer in an outcome. */
export function answerOf(outcome: Outcome): Answer {
  if (outcome.ok) return { kind: 'result', value: outcome.result };
  const { code, message } = outcome.error;
  return { kind: 'error', code, message };
}

/** How the answer differs from what the case expects; undefined if it matches. */
export function misfit(answer: Answer, expected: SkillCase): string | undefined {
  if (answer.kind === 'error') {
    if (expected.error === undefined) return `failed with ${describeAnswer(answer)}`;
    if (answer.code !== expected.error)
      return `failed with ${describeAnswer(answer)} instead of ${expected.error}`;
    const matches = expected.message === undefined || answer.message.includes(expected.message);
    return matches
      ? undefined
      : `failed with ${describeAnswer(answer)} and does not say "${expected.message}"`;
  }
  if (expected.error !== undefined) return `gave ${describeAnswer(answer)} instead of ${expected.error}`;
  if (expected.result === undefined) return undefined;
  const wanted: Answer = { kind: 'result', value: expected.result };
  return isSame(answer, wanted, expected)
    ? undefined
    : `gave ${describeAnswer(answer)} instead of ${describeAnswer(wanted)}`;
}

/** Whether two answers agree. Error messages may differ between modes; error codes may not. */
export function isSame(a: Answer, b: Answer, of: Pick<SkillCase, 'ignore' | 'unordered'>): boolean {
  if (a.kind === 'error' || b.kind === 'error') {
    return a.kind === 'error' && b.kind === 'error' && a.code === b.code;
  }
  return isDeepStrictEqual(comparable(a.value, of), comparable(b.value, of));
}

export function describeAnswer(answer: Answer): string {
  const text =
    answer.kind === 'result' ? JSON.stringify(answer.value) : `${answer.code} (${answer.message.trim()})`;
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}

/** Masks ignored values, and sorts lists whose order is irrelevant. */
function comparable(
  value: unknown,
  { ignore = [], unordered = [] }: Pick<SkillCase, 'ignore' | 'unordered'>,
): unknown {
  // A JSON round trip normalizes values such as -0, which JSON cannot express.
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
