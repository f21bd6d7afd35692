/**
 * The error codes as a table: each with the comment that `src/errors.ts` has on it, so that there is one text of both.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES, type ErrorCode } from '../../src/errors.ts';
import { statusOf } from '../../src/http/status.ts';
import { table } from '../skillware-table.ts';
import { ROOT } from '../steps.ts';

const CODES = Object.keys(EXIT_CODES) as ErrorCode[];

export function formatErrorCodes(): string {
  const meanings = commentsOn('export const EXIT_CODES');
  return table([
    ['code', 'exit', 'HTTP', 'meaning'],
    ...CODES.map((code) => [
      `\`${code}\``,
      String(EXIT_CODES[code]),
      String(statusOf({ code, detail: {} })),
      meanings[code] ?? '',
    ]),
  ]);
}

/** What `resource_exceeded` can name, with its HTTP status where that is another one. */
export function formatLimitNames(): string {
  const [, union = ''] = /export type LimitName =([^;]+);/.exec(source()) ?? [];
  const names = [...union.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
  return table([
    ['`detail.limit`', 'HTTP'],
    ...names.map((limit) => [
      `\`${limit}\``,
      String(statusOf({ code: 'resource_exceeded', detail: { limit } })),
    ]),
  ]);
}

/** The comment above each key of an object literal. */
function commentsOn(declaration: string): Record<string, string> {
  const [, rest = ''] = source().split(declaration);
  const [literal = ''] = rest.split('} as const');
  const found = [...literal.matchAll(/\/\*\* (.+?) \*\/\s+(\w+):/gs)];
  return Object.fromEntries(
    found.map(([, comment = '', key = '']) => [key, comment.replaceAll(/\s+/g, ' ')]),
  );
}

function source(): string {
  return readFileSync(join(ROOT, 'src/errors.ts'), 'utf8');
}
