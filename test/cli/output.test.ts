/**
 * A command copes with any destination of its output: closed pipes, full disks, slow readers.
 *
 * @module
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { writeSkill } from '../write-skill.ts';
import { openCommandLine, ROOT } from './command.ts';

const { folder, close } = openCommandLine();
afterAll(close);

const BIN = join(ROOT, 'bin/skillcell.js');
const env = { ...process.env, SKILLCELL_HOME: join(folder, 'home'), NO_COLOR: '1' };

test('a reader that closed the pipe is not a failure', async () => {
  const child = spawn(process.execPath, [BIN, 'list'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ said, code }).toEqual({ said: '', code: 0 });
});

test('output that cannot be written is reported in one line', () => {
  const full = openSync('/dev/full', 'w');
  const ended = spawnSync(process.execPath, [BIN, 'list'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect(ended.status).toBe(70);
  expect(ended.stderr).toMatch(/^Skillcell could not write its output: ENOSPC.*\n$/);
});

test('a slow reader gets all of a long result', async () => {
  const dir = writeSkill(folder, {
    manifest: { execution: ['wasm'] },
    files: { 'skill.js': 'export const execute = () => "x".repeat(900000);\n' },
  });
  const args = [BIN, 'run', dir, '--params', '{}'];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] });
  await sleep(1500);
  expect((await text(child.stdout)).length).toBe(900_003);
});
