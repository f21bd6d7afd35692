/**
 * How commands end: an exit code that looks like a signal of the kernel is a result, and what the kernel really stopped is an
 * error.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { CommandResult, ExecOptions, Outcome } from '../../../../src/index.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const open = openTestRuntime({ pool: { size: 0 } });
afterAll(() => open.close());

const skill = writeAgentSkill(open.folder, {
  files: {
    'scripts/exit.py': 'import sys\nsys.exit(int(sys.argv[1]))\n',
    'scripts/at_once.py': 'import os, sys\nos._exit(int(sys.argv[1]))\n',
    'scripts/exit.sh': 'exit "$1"\n',
    'scripts/exit.js': 'process.exit(Number(process.argv[2]));\n',
    'scripts/large.sh': 'ulimit -f 8; for n in {1..99}; do printf "%01000d" 0; done > /tmp/large\n',
    'scripts/spawn.js':
      "const { spawn } = require('node:child_process'); for (let n = 0; n < 20; n++) spawn('/bin/sleep', ['20']);\n",
    'scripts/handled.js':
      "process.on('uncaughtException', ({ code }) => { console.log(code); process.exit(7); });\nrequire('node:fs').writeFileSync('/tmp/a', Buffer.alloc(64 << 20));\n",
  },
});

function call(command: string[], options: ExecOptions = {}): Promise<Outcome> {
  return open.runtime.exec(skill, command, { execution: 'subprocess', ...options, reject: false });
}

async function exitCode(command: string[]): Promise<number> {
  const outcome = await call(command);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return (outcome.result as CommandResult).exit_code;
}

describe.each([
  ['python', 'scripts/exit.py'],
  ['python', 'scripts/at_once.py'],
  ['bash', 'scripts/exit.sh'],
  ['node', 'scripts/exit.js'],
])('%s %s', (program, script) => {
  test.each([152, 153, 159])('that ends by itself with %i has this exit code', async (code) => {
    expect(await exitCode([program, script, String(code)])).toBe(code);
  });
});

test('a program that the kernel ends because its file is too large exceeded its scratch space', async () => {
  const outcome = await call(['bash', 'scripts/large.sh']);
  expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'scratch' } } });
});

test('a Node script that fails because of a limit exceeded it', async () => {
  const outcome = await call(['node', 'scripts/spawn.js'], { grants: { limits: { processes: 4 } } });
  expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'processes' } } });
  expect(outcome.logs).toContain('EAGAIN');
});

test('a Node script that handles the error of a limit ends as it wants', async () => {
  const outcome = await call(['node', 'scripts/handled.js']);
  expect(outcome).toMatchObject({ ok: true, result: { exit_code: 7, stdout: 'EFBIG\n' } });
});
