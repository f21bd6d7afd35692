/**
 * The references of manifest and errors are generated from the code and must be complete.
 */
import { expect, test } from 'vitest';
import { formatErrorCodes, formatLimitNames } from '../../scripts/documents/error-tables.ts';
import { manifestKeys } from '../../scripts/documents/manifest-keys.ts';
import { formatManifestKeys } from '../../scripts/documents/manifest-table.ts';
import { EXIT_CODES } from '../../src/vocabulary/error-codes.ts';
import { ENV_KEYS, READ_KEYS } from '../../src/manifest/fields.ts';
import { parseManifest } from '../../src/manifest/parse.ts';

const paths = manifestKeys().map(({ path }) => path);

test('the reference lists every key that the parser reads, also below lists, maps and alternatives', () => {
  expect(paths.filter((path) => !/[.[]/.test(path)).toSorted()).toEqual([...READ_KEYS].toSorted());
  const ofVariables = paths.filter((path) => path.startsWith('env_vars.NAME.'));
  expect(ofVariables.map((path) => path.slice('env_vars.NAME.'.length)).toSorted()).toEqual(
    [...ENV_KEYS].toSorted(),
  );
  expect(paths).toEqual(
    expect.arrayContaining(['capabilities.network[].paths', 'capabilities.syscalls.deny', 'limits.scratch']),
  );
});

test('the reference distinguishes required keys from those with a default', () => {
  const find = (path: string): unknown => manifestKeys().find((key) => key.path === path);
  expect(find('name')).toMatchObject({ isRequired: true });
  expect(find('capabilities.filesystem[].access')).toMatchObject({
    value: '`read` or `read-write`',
    fallback: '"read"',
  });
  expect(formatManifestKeys()).toContain('| `limits.timeout` | amount with a unit | 30s |');
});

/** Closed sections reject keys that the reference does not list. */
test.each(['capabilities', 'limits', 'container'])('the parser accepts no other key below %s', (section) => {
  const text = `name: a/b\n${section}: { surely_unknown: 1 }\n`;
  expect(paths).not.toContain(`${section}.surely_unknown`);
  expect(() => parseManifest(text, { file: 'manifest.yaml' })).toThrow('surely_unknown');
});

test('every error code and every limit has its row', () => {
  const rows = formatErrorCodes().split('\n').slice(2);
  expect(rows).toHaveLength(Object.keys(EXIT_CODES).length);
  expect(rows.filter((row) => / {2}\|$/.test(row))).toEqual([]);
  expect(formatLimitNames()).toContain('| `busy` | 429 |');
});
