/**
 * Base images are replaced after some time, and each has its own hash seed.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ProcessWall } from '../../../../src/cell/walls/process/wall.ts';
import { BaseImages } from '../../../../src/cell/engines/python-wasm/base-images.ts';
import { readEngine } from '../../../../guest/wasm/python/cell/engine-files.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';
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
});

const HASH = 'def execute(params):\n    return hash("any text")\n';

function hashWith({ code, newest }: BaseImages): unknown {
  return callCell(openCell({ engine: readEngine(code, newest.base), source: HASH }));
}

test('a recent image is reused', async () => {
  const [one, other] = [await BaseImages.open({ home, wall }), await BaseImages.open({ home, wall })];
  expect(other.take()).toEqual(one.take());
  expect(hashWith(one)).toBe(hashWith(other));
});

test('an image that is too old is replaced before a process starts from it', async () => {
  const young = await BaseImages.open({ home, wall });
  const renewed = await BaseImages.open({ home, wall, maxAgeMs: 0 });
  expect(renewed.newest).not.toEqual(young.newest);
  expect(hashWith(renewed)).not.toBe(hashWith(young));
});

test('a runtime uses newer images that another runtime has added', async () => {
  const long = await BaseImages.open({ home, wall });
  const before = long.take();
  for (let round = 0; round < 2; round++) await BaseImages.open({ home, wall, maxAgeMs: 0 });
  expect(existsSync(before.base)).toBe(false);
  expect(existsSync(long.take().base)).toBe(true);
});

test('after the maximum number of starts, a new image is used and the oldest is removed', async () => {
  const images = await BaseImages.open({ home, wall, maxStarts: 2 });
  const first = images.take();
  images.take();
  expect(images.take()).toEqual(first);
  await expect.poll(() => images.newest).not.toEqual(first);
  expect(existsSync(first.base)).toBe(true);
  const folders = imageFolders(home);
  expect(folders).toHaveLength(2);
  expect(folders.at(-1)).toBe(dirname(images.newest.base));
});
