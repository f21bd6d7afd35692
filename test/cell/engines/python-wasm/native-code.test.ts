/**
 * Packages with native code for this engine: the code is part of the image that every call starts from, and whatever it
 * does to the memory is undone before the next call.
 *
 * @module
 */
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PYODIDE } from '../../../../src/cell/engines/python-wasm/pyodide.ts';
import { nativeLibrary, type LibraryOptions } from '../../../wasm/python/native-library.ts';
import { writeSkill } from '../../../write-skill.ts';
import { addWheel, useIndex, writeWheel } from '../python/local-index.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

const index = join(folder, 'index');
const LIBRARY = 'native_counter.cpython-314-wasm32-emscripten.so';
const TAG = `cp314-cp314-${PYODIDE.platform}`;

function addNativeWheel(name: string, options?: LibraryOptions): void {
  writeWheel(index, { name, tag: TAG, files: { [LIBRARY]: nativeLibrary(options) } });
}

/** A skill that runs code from its parameters and returns `r`. */
const RUNNER = `
  import native_counter
  BODY = native_counter.bump()
  def execute(params):
      names = {"native_counter": native_counter, "BODY": BODY}
      exec(params["code"], names)
      return names.get("r")
`;

async function installRunner(): Promise<(code: string) => Promise<unknown>> {
  addNativeWheel('native_counter');
  useIndex(index);
  const manifest = { requirements: ['native_counter'], execution: ['wasm'], limits: { memory: '96MiB' } };
  const skill = await runtime.install(writeSkill(folder, { source: RUNNER, manifest }));
  return async (code) => {
    const outcome = await runtime.execute(skill, { code }, { reject: false });
    return outcome.ok ? outcome.result : `${outcome.error.code}: ${outcome.error.message}`;
  };
}

const BUMP = 'r = [BODY, native_counter.bump(), native_counter.bump()]';
const CLEAN = [41, 42, 43];

test('native code keeps no state between calls, whatever it does to the memory', async () => {
  const run = await installRunner();
  // The constructor of the library set it to 40, the module body of the skill added one.
  expect(await run(BUMP)).toEqual(CLEAN);
  expect(await run(BUMP)).toEqual(CLEAN);
  const refusal =
    'try:\n native_counter.refuse()\nexcept ValueError as error:\n r = type(error).__name__\nelse:\n r = "nothing"';
  expect(await run(refusal)).toBe('ValueError');
  const taint =
    'import sys, builtins\nnative_counter.taint = builtins.taint = 1\nnative_counter.bump = None\nr = "done"';
  expect(await run(taint)).toBe('done');
  expect(await run(`${BUMP}\nr.append(hasattr(native_counter, "taint"))`)).toEqual([...CLEAN, false]);
  // Near the end of the heap, in its middle, and near the first address.
  for (const address of [20_000_000, 6_000_000, 1024]) {
    await run(`native_counter.smash(${address})`);
    expect(await run(BUMP)).toEqual(CLEAN);
  }
});

test('a library that was not installed cannot be loaded', async () => {
  const run = await installRunner();
  const copy = `
import importlib.machinery, importlib.util, shutil
shutil.copy(native_counter.__file__, "/tmp/${LIBRARY}")
def load(path):
    loader = importlib.machinery.ExtensionFileLoader("native_counter", path)
    try:
        importlib.util.module_from_spec(importlib.util.spec_from_loader("native_counter", loader))
    except ImportError:
        return "refused"
    return "loaded"
r = [load("/tmp/${LIBRARY}"), load(native_counter.__file__)]`;
  expect(await run(copy)).toEqual(['refused', 'loaded']);
});

test('forbidden native code is refused at installation, and the error names modes that can run it', async () => {
  addNativeWheel('grower', { fields: '(func (drop (memory.grow (i32.const 1))))' });
  useIndex(index);
  const manifest = { requirements: ['grower'], execution: ['wasm'] };
  const dir = writeSkill(folder, { source: 'def execute(params):\n    return 1\n', manifest });
  const failure = await runtime.install(dir).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'skill_unavailable' });
  expect(String(failure)).toMatch(/grows the memory, which an image would not undo/);
  expect(failure).toMatchObject({ fix: expect.stringMatching(/"subprocess" or "container"/) });
});

test('a pure Python wheel of the same version is preferred', async () => {
  addNativeWheel('both');
  addWheel(index, 'both', 'WORD = "pure"\n');
  useIndex(index);
  const source =
    'import os, both\ndef execute(params):\n    return [both.WORD, sorted(os.listdir("/deps"))]\n';
  const manifest = { requirements: ['both'], execution: ['wasm'] };
  const outcome = await runtime.execute(await runtime.install(writeSkill(folder, { source, manifest })), {});
  expect(outcome.result).toEqual(['pure', ['__pycache__', 'both-1.0.dist-info', 'both.py']]);
});
