/**
 * Finding bundles in an untrusted folder.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBundles } from '../../src/study/find-bundles.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

const folder = openFolder();
const MOST = 10;

function bundle(path: string, manifest = 'manifest.yaml'): void {
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, manifest), '');
}

beforeAll(() => {
  bundle('tree/b/two');
  bundle('tree/a/one', 'SKILL.md');
  bundle('tree/a/one/inner');
  bundle('tree/flat');
  bundle('tree/node_modules/package');
  bundle('tree/.hidden/skill');
  bundle('tree/1/2/3/4/5/6/deep');
  bundle('outside/skill');
  mkdirSync(join(folder, 'tree/c/manifest.yaml'), { recursive: true });
  symlinkSync(join(folder, 'outside'), join(folder, 'tree/linked'));
  symlinkSync(join(folder, 'tree'), join(folder, 'tree/circle'));
});

afterAll(() => removeFolder(folder));

test('folders with a manifest are found in order, and no link is followed', () => {
  const found = findBundles(join(folder, 'tree'), MOST);
  expect(found.map(({ path }) => path)).toEqual(['a/one', 'b/two', 'flat']);
  expect(found[0]?.dir).toBe(join(folder, 'tree/a/one'));
});

test('a bundle is found in its own folder', () => {
  expect(findBundles(join(folder, 'tree/flat'), MOST).map(({ path }) => path)).toEqual(['.']);
});

test.each([
  ['a file', 'tree/flat/manifest.yaml', MOST],
  ['nothing', 'none', MOST],
  ['more than wanted', 'tree', 2],
])('the search refuses %s', (_what, path, most) => {
  expect(() => findBundles(join(folder, path), most)).toThrow(
    expect.objectContaining({ code: 'usage' }) as Error,
  );
});
