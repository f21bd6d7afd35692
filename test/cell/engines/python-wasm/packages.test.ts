/**
 * Packages are compiled once per content in a separate process; cells import the bytecode.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ProcessWall } from '../../../../src/cell/walls/process/wall.ts';
import { BaseImages } from '../../../../src/cell/engines/python-wasm/base-images.ts';
import { openPackages, type Packages } from '../../../../src/cell/engines/python-wasm/packages.ts';
import { openFolder, removeFolder, writeSkill } from '../../../write-skill.ts';
import { addWheel, useIndex } from '../python/local-index.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const other = openFolder();
const home = join(other, 'home');
const { runtime, folder, close } = openTestRuntime({ home });
const wall = new ProcessWall();
afterAll(async () => {
  await wall.close();
  await close();
  removeFolder(other);
});

let images: BaseImages;
beforeAll(async () => {
  images = await BaseImages.open({ home, wall });
});

function folderWith(files: Record<string, string>): string {
  const packages = join(other, `packages-${readdirSync(other).length}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(packages, path, '..'), { recursive: true });
    writeFileSync(join(packages, path), text);
  }
  return packages;
}

const open = (packages: string): Promise<Packages> => openPackages({ home, wall, images, folder: packages });
const CACHED = '__pycache__';

test('every module gets bytecode, and modules that cannot be compiled are skipped', async () => {
  const { bytecode } = await open(
    folderWith({ 'a.py': 'X = 1\n', 'sub/b.py': 'Y = 2\n', 'sub/bad.py': 'print 1\n', 'sub/data.txt': 'no' }),
  );
  const files = readdirSync(bytecode, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(bytecode, name)).isFile(),
  );
  expect(files.toSorted()).toEqual([`${CACHED}/a.cpython-314.pyc`, `sub/${CACHED}/b.cpython-314.pyc`]);
});

test('the same content is compiled only once, and changed content again', async () => {
  const first = await open(folderWith({ 'a.py': 'X = 1\n' }));
  const file = join(first.bytecode, CACHED, 'a.cpython-314.pyc');
  const { ino } = statSync(file);
  const again = await open(folderWith({ 'a.py': 'X = 1\n' }));
  expect(again).toMatchObject({ bytecode: first.bytecode, digest: first.digest });
  expect(statSync(file).ino).toBe(ino);
  const changed = await open(folderWith({ 'a.py': 'X = 2\n' }));
  expect(changed.bytecode).not.toBe(first.bytecode);
  const moved = await open(folderWith({ 'b.py': 'X = 1\n' }));
  expect(moved.digest).not.toBe(first.digest);
});

test('no package code is run, and no package content breaks the compilation', async () => {
  const deep = `X = ${'('.repeat(5000)}${')'.repeat(5000)}\n`;
  const { bytecode } = await open(
    folderWith({ 'run.py': 'import os\nos._exit(9)\n', 'deep.py': deep, 'z.py': 'Z = 1\n', 'nul.py': '\0' }),
  );
  expect(existsSync(join(bytecode, CACHED, 'run.cpython-314.pyc'))).toBe(true);
  expect(existsSync(join(bytecode, CACHED, 'z.cpython-314.pyc'))).toBe(true);
});

test('cells import the bytecode, even for imports inside a call', async () => {
  const index = join(folder, 'index');
  addWheel(index, 'worded', 'WORD = "from the source"\n');
  useIndex(index);
  const source = 'def execute(params):\n    import worded\n    return [worded.WORD, worded.__cached__]\n';
  const dir = writeSkill(folder, { source, manifest: { requirements: ['worded'], execution: ['wasm'] } });
  const skill = await runtime.install(dir);
  const cached = `/deps/${CACHED}/worded.cpython-314.pyc`;
  expect((await runtime.execute(skill, {})).result).toEqual(['from the source', cached]);
  const store = join(runtime.home, 'bytecode');
  const name = readdirSync(store, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.includes('worded'),
  );
  const file = join(store, name ?? '');
  // Patches a string in the bytecode, so that the result shows whether a cell uses it.
  writeFileSync(file, readFileSync(file, 'latin1').replace('from the source', 'from the bytes!'), 'latin1');
  const fresh = openTestRuntime({ home });
  expect((await fresh.runtime.execute(dir, {})).result).toEqual(['from the bytes!', cached]);
  await fresh.close();
});
