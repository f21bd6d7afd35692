/**
 * Documents quote what is in `bench/results/`, and nothing else.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS, withFigures } from '../../scripts/doc-tables.ts';
import { packageRoot } from '../../src/inside.ts';

/** As formatted: columns are padded. */
function plain(text: string): string {
  return text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');
}

test.each(DOCUMENTS)('%s shows the newest figures (otherwise run scripts/doc-tables.ts)', (name) => {
  const text = readFileSync(join(packageRoot(), name), 'utf8');
  expect(text).toContain('<!-- figures:');
  expect(plain(text)).toBe(plain(withFigures(text)));
});

test('a table replaces the text between its marks, and an unknown table name is refused', () => {
  const filled = withFigures('a\n\n<!-- figures:error-codes -->\nold\n<!-- /figures -->\n\nb\n');
  expect(filled).toMatch(/^a\n\n<!-- figures:error-codes -->\n\n\| code .*<!-- \/figures -->\n\nb\n$/s);
  expect(filled).not.toContain('old');
  expect(() => withFigures('<!-- figures:nothing -->\n<!-- /figures -->')).toThrow('"nothing"');
});
