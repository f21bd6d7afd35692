/**
 * A folder with packages of which one has no wheel for Wasm: commands that need only the others run there, with the same
 * bytes, and a command that imports it when it is loaded is refused before it runs.
 *
 * @module
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findInterpreter } from '../../../../src/cell/engines/python/interpreter.ts';
import type { CommandResult, Outcome } from '../../../../src/index.ts';
import type { Mode } from '../../../../src/vocabulary/modes.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';
import { addWheel, useIndex, writeWheel } from '../python/local-index.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const open = openTestRuntime({ pool: { size: 0 } });
afterAll(() => open.close());
const index = join(open.folder, 'index');

const FILES = {
  'requirements.txt': 'greeting\ncompiled\n',
  'scripts/pure.py': 'import greeting, sys\nprint(greeting.WORD, sys.argv[1:])\n',
  'scripts/native.py': 'import neighbour\nprint(neighbour.WORD)\n',
  'scripts/neighbour/__init__.py': 'from .inner import WORD\n',
  'scripts/neighbour/inner.py': 'import json\nfrom compiled import WORD\n',
  'scripts/late.py': `
    import sys
    def show():
        import compiled
        print(compiled.WORD)
    show() if sys.argv[1:] else print("usage: late.py NAME")
  `,
  'scripts/none.py': 'import json\nprint(json.dumps([1]))\n',
};
const skill = writeAgentSkill(open.folder, { files: FILES });
const onlyNative = writeAgentSkill(open.folder, {
  files: { ...FILES, 'requirements.txt': 'compiled\n', 'scripts/pure.py': '' },
});

test('a folder can be installed although one of its packages has no wheel for Wasm', async () => {
  addWheel(index, 'greeting', 'WORD = "hello"\n');
  const wheel = addWheel(index, 'compiled', 'WORD = "compiled"\n');
  const [major, minor] = (findInterpreter()?.version ?? '').split('.');
  renameSync(wheel, wheel.replace('py3-none-any', `cp${major}${minor}-none-any`));
  useIndex(index);
  for (const dir of [skill, onlyNative]) await open.runtime.install(dir, { acceptPackages: () => true });
});

function call(execution: Mode, command: string[], dir = skill): Promise<Outcome> {
  return open.runtime.exec(dir, command, { execution, reject: false });
}

async function resultIn(execution: Mode, command: string[], dir = skill): Promise<CommandResult> {
  const outcome = await call(execution, command, dir);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  expect(outcome.execution?.mode).toBe(execution);
  return outcome.result as CommandResult;
}

test.each([
  ['with a package that Wasm has', ['python', 'scripts/pure.py', 'a']],
  ['without a package', ['python', 'scripts/none.py']],
  ['that imports the other package only in a function', ['python', 'scripts/late.py']],
  ['of the caller', ['python', '-c', 'import greeting; print(greeting.WORD)']],
  ['that is a module', ['python', '-m', 'scripts.pure']],
])('a command %s prints the same in Wasm as in a jail', async (_, command) => {
  const [wasm, jail] = [await resultIn('wasm', command), await resultIn('subprocess', command)];
  expect(wasm).toEqual(jail);
  expect(wasm.exit_code).toBe(0);
});

test.each([
  ['a script', ['python', 'scripts/native.py']],
  ['a module', ['python', '-m', 'scripts.native']],
])('%s that loads the missing package through its neighbours is refused in Wasm', async (_, command) => {
  const outcome = await call('wasm', command);
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  expect(outcome.ok || outcome.error.message).toContain(
    'it imports compiled (scripts/neighbour/inner.py:2), and "compiled" has no package for Wasm',
  );
  expect(outcome.ok || outcome.error.fix).toContain('--execution subprocess');
});

test('a module of the missing package is refused as well', async () => {
  const outcome = await call('wasm', ['python', '-m', 'compiled']);
  expect(outcome.ok || outcome.error.message).toContain('"compiled" has no package for Wasm');
});

test('a missing package that is reached after all is an error of the script', async () => {
  const result = await resultIn('wasm', ['python', 'scripts/late.py', 'x']);
  expect(result.exit_code).toBe(1);
  expect(result.stderr).toContain("No module named 'compiled'");
});

test('a folder none of whose packages has a wheel for Wasm still runs there without them', async () => {
  const command = ['python', 'scripts/none.py'];
  expect(await resultIn('wasm', command, onlyNative)).toMatchObject({ stdout: '[1]\n' });
  expect(await call('wasm', ['python', 'scripts/native.py'], onlyNative)).toMatchObject({ ok: false });
});

test('its pins say which packages each engine has, and reinstalling them gives the same', async () => {
  useIndex(index);
  const before = await open.runtime.load(skill);
  const targets = before.bundle.lockedPackages?.targets ?? {};
  const names = Object.entries(targets).map(([target, lines]) => [
    target.replace(/-.*/, '') + (target.includes('wasm') ? '-wasm' : ''),
    lines.map((line) => line.split(' ')[0]),
  ]);
  expect(Object.fromEntries(names)).toEqual({
    python: ['compiled', 'greeting'],
    'python-wasm': ['greeting'],
  });
  const again = await open.runtime.install(skill, { frozen: true, acceptPackages: () => true });
  expect(again.bundle.lockedPackages?.targets).toEqual(targets);
});

test('a package with the name of a folder of the skill does not take its place', async () => {
  const files = Object.fromEntries(
    ['scripts/__init__.py', 'scripts/pure.py', 'json.py', '_skillcell/__init__.py', 'sitecustomize.py'].map(
      (path) => [path, Buffer.from(`print("${path} of the package")\n`)],
    ),
  );
  writeWheel(index, { name: 'taker', tag: 'py3-none-any', files });
  useIndex(index);
  const dir = writeAgentSkill(open.folder, {
    files: {
      'requirements.txt': 'taker\n',
      'scripts/pure.py': 'import json\nprint("of the skill", json.dumps(1))\n',
      'scripts/inner/deep.py': 'from scripts import pure\nprint(__package__)\n',
    },
  });
  await open.runtime.install(dir, { acceptPackages: () => true });
  for (const mode of ['subprocess', 'wasm'] as const) {
    expect(await resultIn(mode, ['python', '-m', 'scripts.pure'], dir)).toMatchObject({
      ...{ exit_code: 0, stdout: 'of the skill 1\n' },
    });
    expect(await resultIn(mode, ['python', '-m', 'scripts.inner.deep'], dir)).toMatchObject({
      ...{ exit_code: 0, stdout: 'of the skill 1\nscripts.inner\n' },
    });
  }
});
