/**
 * Only the engine that the import layer was written for is used; any other is refused before it is compiled.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SkillError } from '../../../../src/errors.ts';
import { readPyodide, type PyodideFiles } from '../../../../src/cell/engines/python-wasm/pyodide.ts';
import { packageRoot } from '../../../../src/package-root.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

const folder = openFolder();
afterAll(() => removeFolder(folder));
let files: PyodideFiles;
beforeAll(() => {
  files = readPyodide();
});

function refusal(changed: Partial<PyodideFiles>): unknown {
  const { engine, library } = { ...files, ...changed };
  writeFileSync(join(folder, 'pyodide.asm.wasm'), engine);
  writeFileSync(join(folder, 'python_stdlib.zip'), library);
  try {
    return readPyodide((name) => join(folder, name));
  } catch (error) {
    return error;
  }
}

function flip(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}

test('files with the pinned digests are accepted', () => {
  expect(refusal({})).toMatchObject({ engine: expect.any(Buffer) as unknown });
});

test.each([
  ['an engine with a flipped bit', () => ({ engine: flip(files.engine, files.engine.length >> 1) })],
  ['an engine with trailing bytes', () => ({ engine: Buffer.concat([files.engine, Buffer.from([0])]) })],
  ['a library with a flipped bit', () => ({ library: flip(files.library, 5000) })],
  ['an empty engine', () => ({ engine: Buffer.alloc(0) })],
])('%s is refused', (_, change) => {
  const error = refusal(change());
  expect(error).toBeInstanceOf(SkillError);
  expect(error).toMatchObject({ code: 'skill_unavailable' });
  expect((error as SkillError).fix).toContain('npm install pyodide@');
});

test('a missing package is reported', () => {
  expect(() => readPyodide(() => undefined)).toThrow(/not installed/);
});

test('the installer refuses an engine with an unknown import, regardless of its digest', async () => {
  const name = files.engine.indexOf('_emscripten_system');
  expect(name).toBeGreaterThan(0);
  await expect(runInstaller(join(folder, 'workplace'), flip(files.engine, name + 1))).rejects.toThrow(
    /unexpected imports/,
  );
});

test('the installer refuses an engine that does not match its digest', async () => {
  const expected = createHash('sha256').update(files.engine).digest('hex');
  const changed = flip(files.engine, 1000);
  await expect(runInstaller(join(folder, 'other'), changed, expected)).rejects.toThrow(/unexpected digest/);
});

async function runInstaller(workplace: string, engine: Buffer, digest?: string): Promise<unknown> {
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const input = join(workplace, 'input');
  mkdirSync(input, { recursive: true });
  writeFileSync(join(input, 'engine.wasm'), engine);
  writeFileSync(join(input, 'library.zip'), files.library);
  const digests = { engine: digest ?? sha256(engine), library: sha256(files.library) };
  const sources = { boot: '', compile: '', added: {} };
  writeFileSync(join(input, 'input.json'), JSON.stringify({ sha256: digests, sources, isCompiled: false }));
  const entry = join(packageRoot(), 'guest/wasm/python/install/main.ts');
  return promisify(execFile)(process.execPath, [entry, workplace]);
}
