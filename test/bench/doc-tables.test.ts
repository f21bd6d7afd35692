/**
 * Documents quote what is in `bench/results/`, and nothing else.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS, withFigures } from '../../scripts/doc-tables.ts';
import { packageRoot } from '../../src/index.ts';

/** As the formatter leaves it: columns are padded. */
function plain(text: string): string {
  return text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');
}

test.each(DOCUMENTS)('%s has the newest figures; run scripts/doc-tables.ts if it has not', (name) => {
  const text = readFileSync(join(packageRoot(), name), 'utf8');
  expect(text).toContain('<!-- figures:');
  expect(plain(text)).toBe(plain(withFigures(text)));
});

test('replaces what is between the marks, and refuses a name that nobody makes', () => {
  const filled = withFigures('a\n\n<!-- figures:error-codes -->\nold\n<!-- /figures -->\n\nb\n');
  expect(filled).toMatch(/^a\n\n<!-- figures:error-codes -->\n\n\| code .*<!-- \/figures -->\n\nb\n$/s);
  expect(filled).not.toContain('old');
  expect(() => withFigures('<!-- figures:nothing -->\n<!-- /figures -->')).toThrow('"nothing"');
});
