/**
 * Every kind of invalid input gets its own error code and exit code, a fix and an empty stdout; the next call works.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeSkill } from '../write-skill.ts';
import { cellsOf, openCommandLine, PROMPT_REWRITER, type Ended } from './command.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

const FINE = 'def execute(params):\n    return 1\n';
const FIFTY_MB = 50 * 1000 * 1000;

function expectRefusal(ended: Ended, code: string, exitCode: number): void {
  expect(ended.stderr).toContain(`error[${code}]:`);
  expect(ended.stderr).toContain('fix: ');
  expect(ended.code).toBe(exitCode);
  expect(ended.stdout).toBe('');
}

/** Runs after each group: earlier failures must not affect the next call. */
async function expectAllWell(): Promise<void> {
  const next = await run(['run', PROMPT_REWRITER, '--params', '{"raw_text":"Still there"}']);
  expect(next.code).toBe(0);
  expect(cellsOf(folder)).toEqual([]);
}

describe('skillcell run refuses a manifest', () => {
  afterAll(expectAllWell);

  test('that is missing', async () => {
    const dir = join(folder, 'no-manifest');
    mkdirSync(dir);
    writeFileSync(join(dir, 'skill.py'), FINE);
    expectRefusal(await run(['run', dir]), 'manifest_invalid', 2);
  });

  test.each([
    ['is not YAML', 'name: [a\n  b: {{{'],
    ['is empty', ''],
    ['is a list', '- a\n- b\n'],
    ['is binary', '\u0000\u0001\u0002'],
    ['has no name', 'version: 1.0.0\n'],
    ['has a name of the wrong type', 'name: 12\n'],
    ['has limits of the wrong type', 'name: a/b\nlimits: 12\n'],
    ['has an invalid timeout', 'name: a/b\nlimits: { timeout: soon }\n'],
    ['has parameters that are not a schema', 'name: a/b\nparameters: { type: nonsense }\n'],
    ['has an unknown capability', 'name: a/b\ncapabilities: { telepathy: true }\n'],
    ['has an unknown limit', 'name: a/b\nlimits: { patience: 1s }\n'],
    [
      'asks for a path it cannot have',
      'name: a/b\ncapabilities: { filesystem: [{ path: /etc, access: read }] }\n',
    ],
    ['names an entry that does not exist', 'name: a/b\nentry: other.py\n'],
  ])('that %s', async (_, text) => {
    const dir = writeSkill(folder, { source: FINE, files: { 'manifest.yaml': text } });
    expectRefusal(await run(['run', dir]), 'manifest_invalid', 2);
  });

  test('that requires a limit that cannot be enforced', async () => {
    const dir = writeSkill(folder, {
      manifest: { capabilities: { network: [{ host: 'example.invalid', methods: ['GET'] }] } },
      source: FINE,
    });
    expectRefusal(await run(['run', dir]), 'unenforceable', 2);
  });

  test('that does not cover what the code does', async () => {
    const ended = await run(['run', writeSkill(folder, { source: `import socket\n${FINE}` })]);
    expectRefusal(ended, 'manifest_drift', 2);
    expect(ended.stderr).toContain('socket');
  });
});

describe('skillcell run refuses parameters', () => {
  afterAll(expectAllWell);

  test.each([
    ['break the schema', '{"raw_text":12}'],
    ['lack a required one', '{}'],
    ['have one too many', '{"raw_text":"a","other":1}'],
    ['are not an object', '[1,2]'],
    ['are not JSON', '{"raw_text":'],
    ['are plain text', 'hello'],
  ])('that %s', async (_, params) => {
    expectRefusal(await run(['run', PROMPT_REWRITER, '--params', params]), 'invalid_params', 2);
  });

  test('of 50 MB in a file', async () => {
    const file = join(folder, 'large.json');
    writeFileSync(file, JSON.stringify({ raw_text: 'x'.repeat(FIFTY_MB) }));
    expectRefusal(await run(['run', PROMPT_REWRITER, '--params-file', file]), 'invalid_params', 2);
  });

  test('of 50 MB on stdin', async () => {
    const input = JSON.stringify({ raw_text: 'x'.repeat(FIFTY_MB) });
    expectRefusal(await run(['run', PROMPT_REWRITER], { input }), 'invalid_params', 2);
  });

  test('that are binary data on stdin', async () => {
    expectRefusal(await run(['run', PROMPT_REWRITER], { input: randomBytes(100_000) }), 'invalid_params', 2);
  });

  test('that are nested a hundred thousand levels deep', async () => {
    const input = '['.repeat(100_000) + ']'.repeat(100_000);
    expectRefusal(await run(['run', PROMPT_REWRITER], { input }), 'invalid_params', 2);
  });

  test('in a file that does not exist', async () => {
    expectRefusal(await run(['run', PROMPT_REWRITER, '--params-file', join(folder, 'none')]), 'usage', 2);
  });

  test('that are given twice', async () => {
    const args = ['run', PROMPT_REWRITER, '--params', '{}', '--params-file', 'x'];
    expectRefusal(await run(args), 'usage', 2);
  });
});

describe('skillcell refuses a command line', () => {
  afterAll(expectAllWell);

  test.each([
    ['with an unknown skill', ['run', 'no/such_skill_here'], 'skill_unavailable', 6],
    ['with an unknown skill to inspect', ['inspect', 'no/such_skill_here'], 'skill_unavailable', 6],
    ['with a file for a skill', ['run', 'package.json'], 'usage', 2],
    ['with an invalid timeout', ['run', PROMPT_REWRITER, '--timeout', 'soon'], 'usage', 2],
    ['with an invalid size', ['run', PROMPT_REWRITER, '--memory', 'lots'], 'usage', 2],
    ['with a policy that does not exist', ['run', PROMPT_REWRITER, '--policy', '/no/such/file'], 'usage', 2],
    ['with an invalid count', ['audit', 'list', '--limit', '-1'], 'usage', 2],
    ['with a receipt that does not exist', ['audit', 'show', '01NOSUCHRECEIPT'], 'usage', 2],
  ] as const)('%s', async (...row) => {
    const [, args, code, exitCode] = row;
    expectRefusal(await run([...args]), code, exitCode);
  });

  test.each([
    ['an unknown command', ['frobnicate']],
    ['an unknown option', ['run', PROMPT_REWRITER, '--frobnicate']],
    ['a missing argument', ['run']],
    ['a mode that does not exist', ['run', PROMPT_REWRITER, '--execution', 'magic']],
  ])('with %s', async (_, args) => {
    const ended = await run(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('error: ');
  });
});

describe('skillcell run reports the failure of a skill', () => {
  afterAll(expectAllWell);

  test.each([
    ['prints 1 GB', 'for _ in range(16384):\n        print("x" * 65535)', 'resource_exceeded', 4],
    ['forks', 'import os\n    os.fork()', 'capability_denied', 3],
    ['exits 0 without a reply', 'import os\n    os._exit(0)', 'skill_error', 1],
    ['dies by a signal', 'import ctypes\n    ctypes.string_at(0)', 'skill_error', 1],
    ['returns a value that is not JSON', 'return {1, 2}', 'skill_error', 1],
  ] as const)('that %s', async (...row) => {
    const [, body, code, exitCode] = row;
    const source = `def execute(params):\n    ${body}\n`;
    expectRefusal(await run(['run', writeSkill(folder, { source })]), code, exitCode);
  });

  test('that never reads its parameters', async () => {
    const skill = writeSkill(folder, { source: 'import time\ntime.sleep(60)\n' });
    const input = JSON.stringify({ big: 'x'.repeat(4 << 20) });
    expectRefusal(await run(['run', skill, '--timeout', '1s'], { input }), 'resource_exceeded', 4);
  });
});
