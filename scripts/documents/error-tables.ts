/**
 * The error codes as a table, from the vocabulary.
 *
 * @module
 */
import { ERROR_CODES, ERRORS } from '../../src/vocabulary/error-codes.ts';
import { LIMIT_NAMES } from '../../src/vocabulary/limits.ts';
import { statusOf } from '../../src/http/status.ts';
import { table } from '../skillware-table.ts';

export function formatErrorCodes(): string {
  return table([
    ['code', 'exit', 'HTTP', 'meaning'],
    ...ERROR_CODES.map((code) => [
      `\`${code}\``,
      String(ERRORS[code].exit),
      String(statusOf({ code, detail: {} })),
      ERRORS[code].meaning,
    ]),
  ]);
}

/** The limits that `resource_exceeded` can name, with their HTTP status if it differs. */
export function formatLimitNames(): string {
  return table([
    ['`detail.limit`', 'HTTP'],
    ...LIMIT_NAMES.map((limit) => [
      `\`${limit}\``,
      String(statusOf({ code: 'resource_exceeded', detail: { limit } })),
    ]),
  ]);
}
