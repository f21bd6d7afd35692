/**
 * Base images wear out, and the next one has another hash seed.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ProcessWall } from '../../../src/cell/process/wall.ts';
import { BaseImages } from '../../../src/cell/python-wasm/base-images.ts';
import { readEngine } from '../../../guest/wasm/python/cell/engine-files.ts';
import { openFolder, removeFolder } from '../../write-skill.ts';
import { callCell, imageFolders, openCell } from './installed.ts';

const folder = openFolder();
const home = join(folder, 'home');
const wall = new ProcessWall();
afterAll(async () => {
  await wall.close();
  removeFolder(folder);
});

beforeAll(async () => {
  await BaseImages.open({ home, wall });
}, 120_000);

const HASH = 'def execute(params):\n    return hash("any text")\n';

function hashWith({ code, newest }: BaseImages): unknown {
  return callCell(openCell({ engine: readEngine(code, newest.base), source: HASH }));
}

test('one image is used as long as it is young', async () => {
  const [one, other] = [await BaseImages.open({ home, wall }), await BaseImages.open({ home, wall })];
  expect(other.take()).toEqual(one.take());
  expect(hashWith(one)).toBe(hashWith(other));
});

test('an image that is too old is replaced before anything starts from it', async () => {
  const young = await BaseImages.open({ home, wall });
  const renewed = await BaseImages.open({ home, wall, maxAgeMs: 0 });
  expect(renewed.newest).not.toEqual(young.newest);
  expect(hashWith(renewed)).not.toBe(hashWith(young));
}, 60_000);

test('a runtime takes what another has made meanwhile', async () => {
  const long = await BaseImages.open({ home, wall });
  const before = long.take();
  for (let round = 0; round < 2; round++) await BaseImages.open({ home, wall, maxAgeMs: 0 });
  expect(existsSync(before.base)).toBe(false);
  expect(existsSync(long.take().base)).toBe(true);
}, 60_000);

test('after so many processes the next ones start from another, and the oldest goes away', async () => {
  const images = await BaseImages.open({ home, wall, maxStarts: 2 });
  const first = images.take();
  images.take();
  expect(images.take()).toEqual(first);
  await expect.poll(() => images.newest, { timeout: 50_000 }).not.toEqual(first);
  expect(existsSync(first.base)).toBe(true);
  const folders = imageFolders(home);
  expect(folders).toHaveLength(2);
  expect(folders.at(-1)).toBe(dirname(images.newest.base));
}, 60_000);
