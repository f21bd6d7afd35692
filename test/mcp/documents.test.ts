/**
 * Compares docs/mcp.md with the expected results of the conformance suite.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readDocument, tableUnder } from '../readme/documents.ts';
import { EXPECTED_FAILURES } from './conformance.ts';

test('docs/mcp.md explains every conformance scenario that fails', () => {
  const expected = [...readFileSync(EXPECTED_FAILURES, 'utf8').matchAll(/^ {2}- (\S+)$/gm)].map(
    ([, name]) => name,
  );
  const rows = tableUnder(readDocument('docs/mcp.md'), 'Conformance');
  const named = rows.flatMap(([scenarios = '']) => scenarios.replaceAll('`', '').split(', '));
  expect(new Set(named)).toEqual(new Set(expected));
  expect(named).toHaveLength(expected.length);
});
