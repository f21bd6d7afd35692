/**
 * Compares the table of statuses in the documents with the code.
 */
import { expect, test } from 'vitest';
import { statusOf } from '../../src/http/status.ts';
import { EXIT_CODES, type ErrorCode } from '../../src/index.ts';
import { readDocument, tableUnder } from '../readme/documents.ts';

test('docs/http.md lists the status of every error code', () => {
  const rows = tableUnder(readDocument('docs/http.md'), 'Status').map(([name = '', status]) => {
    const [code = '', limit] = name.replaceAll('`', '').split('/');
    return { code, limit, status: Number(status) };
  });
  const plain = rows.filter(({ limit }) => limit === undefined);
  expect(plain.map(({ code }) => code)).toEqual(Object.keys(EXIT_CODES));
  for (const { code, limit, status } of rows)
    expect(statusOf({ code: code as ErrorCode, detail: limit === undefined ? {} : { limit } }), code).toBe(
      status,
    );
});
