/**
 * Pure Python packages work in Wasm. A skill that needs native code runs in another mode, and the outcome says so.
 *
 * @module
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findInterpreter } from '../../../../src/cell/engines/python/interpreter.ts';
import { writeSkill } from '../../../write-skill.ts';
import { addWheel, useIndex, writeWheel } from '../python/local-index.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

const SOURCE = 'import greeting\ndef execute(params):\n    return greeting.WORD\n';
const BOTH = { requirements: ['greeting'], execution: ['wasm', 'subprocess'] };
const index = join(folder, 'index');

/** Adds a wheel that fits only the system Python. */
function addNativeWheel(): void {
  const pure = addWheel(index, 'compiled', 'WORD = "compiled"\n');
  const [major, minor] = (findInterpreter()?.version ?? '').split('.');
  renameSync(pure, pure.replace('py3-none-any', `cp${major}${minor}-none-any`));
}

test('a skill whose requirements are not installed is refused in Wasm with a fix', async () => {
  const dir = writeSkill(folder, {
    source: SOURCE,
    manifest: { ...BOTH, requirements: ['never_installed'] },
  });
  const outcome = await runtime.execute(dir, {}, { execution: 'wasm', reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  expect(outcome.ok || outcome.error.message).toContain('skillcell install');
});

test('a pure Python package is installed once and works in both modes', async () => {
  addWheel(index, 'greeting', 'WORD = "hello"\n');
  useIndex(index);
  const dir = writeSkill(folder, { source: SOURCE, manifest: BOTH });
  await runtime.install(dir);
  const wasm = await runtime.execute(dir, {});
  expect(wasm).toMatchObject({ result: 'hello', execution: { engine: 'python-wasm' } });
  const native = await runtime.execute(dir, {}, { execution: 'subprocess' });
  expect(native).toMatchObject({ result: 'hello', execution: { engine: 'python' } });
});

test('a skill with native code falls back to another mode, and Wasm says why it cannot run it', async () => {
  addNativeWheel();
  useIndex(index);
  const manifest = { ...BOTH, requirements: ['compiled'] };
  const dir = writeSkill(folder, { source: SOURCE.replaceAll('greeting', 'compiled'), manifest });
  const skill = await runtime.install(dir);
  const ran = await runtime.execute(dir, {});
  expect(ran).toMatchObject({ result: 'compiled', execution: { engine: 'python' } });
  expect(ran.warnings.join()).toMatch(/Runs as "subprocess"; not as wasm: .*pure Python/);
  expect((await runtime.plan(skill)).choice.reason).toMatch(/not wasm: .*pure Python/);
  const outcome = await runtime.execute(dir, {}, { execution: 'wasm', reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  expect(outcome.ok || outcome.error.message).toMatch(/subprocess and container can run them/);
  expect(outcome.ok || outcome.error.fix).toContain('--execution subprocess');
});

test('a skill that allows only Wasm cannot be installed with native code', async () => {
  addNativeWheel();
  useIndex(index);
  const manifest = { requirements: ['compiled'], execution: ['wasm'] };
  const dir = writeSkill(folder, { source: SOURCE.replaceAll('greeting', 'compiled'), manifest });
  await expect(runtime.install(dir)).rejects.toMatchObject({ code: 'skill_unavailable' });
});

/** Like PyYAML: native code that is imported in a `try`, with a fallback in Python. */
function addHalfNativeWheel(name: string): void {
  const [major, minor] = (findInterpreter()?.version ?? '').split('.');
  const source = `try:\n    from _${name} import WORD\nexcept ImportError:\n    WORD = "without native code"\n`;
  const native = Buffer.from('\x7fELF');
  writeWheel(index, {
    name,
    tag: `cp${major}${minor}-none-any`,
    files: { [`${name}.py`]: Buffer.from(source), [`_${name}.cpython-314-x86_64-linux-gnu.so`]: native },
  });
}

test('a package with optional native code is used without it', async () => {
  addHalfNativeWheel('msgpack');
  useIndex(index);
  const manifest = { requirements: ['msgpack==1.0'], execution: ['wasm'] };
  const dir = writeSkill(folder, { source: SOURCE.replaceAll('greeting', 'msgpack'), manifest });
  await runtime.install(dir);
  const { result, execution } = await runtime.execute(dir, {});
  expect(result).toBe('without native code');
  expect(execution?.engine).toBe('python-wasm');
});

test('a package with optional native code is also used without it as a dependency', async () => {
  addHalfNativeWheel('markupsafe');
  const files = { 'needs_it.py': Buffer.from('from markupsafe import WORD\n') };
  writeWheel(index, { name: 'needs_it', tag: 'py3-none-any', files, requires: ['markupsafe>=0.5'] });
  useIndex(index);
  const manifest = { requirements: ['needs_it'], execution: ['wasm'] };
  const dir = writeSkill(folder, { source: SOURCE.replaceAll('greeting', 'needs_it'), manifest });
  await runtime.install(dir);
  expect((await runtime.execute(dir, {})).result).toBe('without native code');
});

test('a package that is not on the tested list is not used without its native code', async () => {
  addHalfNativeWheel('unknown_to_us');
  useIndex(index);
  const manifest = { requirements: ['unknown_to_us'], execution: ['wasm'] };
  const dir = writeSkill(folder, { source: SOURCE.replaceAll('greeting', 'unknown_to_us'), manifest });
  await expect(runtime.install(dir)).rejects.toMatchObject({ code: 'skill_unavailable' });
});

test('PyYAML and tzdata from the index work', async () => {
  const source = `
    import datetime, yaml, zoneinfo
    def execute(params):
        moment = datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
        return [yaml.safe_load("a: [1, {b: x}]"), yaml.safe_dump({"k": [1]}), str(moment)]
  `;
  const manifest = { requirements: ['pyyaml', 'tzdata'], execution: ['wasm'] };
  const skill = await runtime.install(writeSkill(folder, { source, manifest }));
  expect((await runtime.execute(skill, {})).result).toEqual([
    { a: [1, { b: 'x' }] },
    'k:\n- 1\n',
    '2026-07-01 00:00:00+02:00',
  ]);
});
