/**
 * Python in Wasm from the command line: equal results in both modes, and the fix where Wasm cannot run a skill.
 *
 * @module
 */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findInterpreter } from '../../../../src/cell/engines/python/interpreter.ts';
import { openCommandLine, PROMPT_REWRITER } from '../../../cli/command.ts';
import { writeSkill } from '../../../write-skill.ts';
import { addWheel } from '../python/local-index.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

const EXIT_UNAVAILABLE = 6;

test('a skill has the same result in both modes', async () => {
  const params = '{"raw_text":"Please   could you kindly summarize this"}';
  const wasm = await run(['run', PROMPT_REWRITER, '--execution', 'wasm', '--params', params]);
  const native = await run(['run', PROMPT_REWRITER, '--execution', 'subprocess', '--params', params]);
  expect([wasm.code, native.code]).toEqual([0, 0]);
  expect(wasm.stdout).toBe(native.stdout);
});

test('a skill with native code is refused with a fix, and runs after following it', async () => {
  const index = join(folder, 'index');
  const pure = addWheel(index, 'compiled', 'WORD = "compiled"\n');
  const [major, minor] = (findInterpreter()?.version ?? '').split('.');
  renameSync(pure, pure.replace('py3-none-any', `cp${major}${minor}-none-any`));
  const env = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: index, PIP_CONFIG_FILE: '/dev/null' };
  const source = 'import compiled\ndef execute(params):\n    return compiled.WORD\n';
  const manifest = { requirements: ['compiled'], execution: ['wasm', 'subprocess'] };
  const dir = writeSkill(folder, { source, manifest });
  expect((await run(['install', dir], { env })).code).toBe(0);

  const refused = await run(['run', dir, '--execution', 'wasm']);
  expect(refused).toMatchObject({ code: EXIT_UNAVAILABLE, stdout: '' });
  expect(refused.stderr).toContain('skill_unavailable');
  expect(refused.stderr).toContain('--execution subprocess');

  expect(await run(['run', dir, '--execution', 'subprocess'])).toMatchObject({
    code: 0,
    stdout: '"compiled"\n',
  });
  const fallen = await run(['run', dir, '--json']);
  expect(JSON.parse(fallen.stdout)).toMatchObject({
    result: 'compiled',
    execution: { mode: 'subprocess' },
    warnings: expect.arrayContaining([
      expect.stringContaining('Runs as "subprocess"; not as wasm'),
    ]) as unknown,
  });
  expect((await run(['inspect', dir])).stdout).toMatch(/subprocess[^]*not wasm: .*pure Python/);
});
