/**
 * Packages of pure Python work in Wasm; a skill that needs native code is run where that exists, and the caller is told.
 *
 * @module
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findInterpreter } from '../../../src/cell/python/interpreter.ts';
import { writeSkill } from '../../write-skill.ts';
import { addWheel, useIndex } from '../python/local-index.ts';
import { openTestRuntime } from '../test-runtime.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

const SOURCE = 'import greeting\ndef execute(params):\n    return greeting.WORD\n';
const BOTH = { requirements: ['greeting'], execution: ['wasm', 'subprocess'] };
const index = join(folder, 'index');

/** A wheel that only fits the system's Python. */
function addNativeWheel(): void {
  const pure = addWheel(index, 'compiled', 'WORD = "compiled"\n');
  const [major, minor] = (findInterpreter()?.version ?? '').split('.');
  renameSync(pure, pure.replace('py3-none-any', `cp${major}${minor}-none-any`));
}

test('what is not installed is not run in Wasm, and the way out is told', async () => {
  const dir = writeSkill(folder, {
    source: SOURCE,
    manifest: { ...BOTH, requirements: ['never_installed'] },
  });
  const outcome = await runtime.execute(dir, {}, { execution: 'wasm', reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  expect(outcome.ok || outcome.error.message).toContain('skillcell install');
});

test('pure Python is installed once and works in both modes', async () => {
  addWheel(index, 'greeting', 'WORD = "hello"\n');
  useIndex(index);
  const dir = writeSkill(folder, { source: SOURCE, manifest: BOTH });
  await runtime.install(dir);
  const wasm = await runtime.execute(dir, {});
  expect(wasm).toMatchObject({ result: 'hello', execution: { engine: 'python-wasm' } });
  const native = await runtime.execute(dir, {}, { execution: 'subprocess' });
  expect(native).toMatchObject({ result: 'hello', execution: { engine: 'python' } });
});

test('native code falls back to the mode that has it, and Wasm says why it cannot', async () => {
  addNativeWheel();
  useIndex(index);
  const manifest = { ...BOTH, requirements: ['compiled'] };
  const dir = writeSkill(folder, { source: SOURCE.replaceAll('greeting', 'compiled'), manifest });
  const skill = await runtime.install(dir);
  expect(await runtime.execute(dir, {})).toMatchObject({
    result: 'compiled',
    execution: { engine: 'python' },
  });
  expect((await runtime.plan(skill)).choice.reason).toMatch(/not wasm: .*pure Python/);
  const outcome = await runtime.execute(dir, {}, { execution: 'wasm', reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  expect(outcome.ok || outcome.error.message).toMatch(/subprocess and container can run them/);
});

test('a skill that only runs in Wasm cannot be installed with native code', async () => {
  addNativeWheel();
  useIndex(index);
  const manifest = { requirements: ['compiled'], execution: ['wasm'] };
  const dir = writeSkill(folder, { source: SOURCE.replaceAll('greeting', 'compiled'), manifest });
  await expect(runtime.install(dir)).rejects.toMatchObject({ code: 'skill_unavailable' });
});
