/**
 * Ctrl-C in commands that make calls, at the stages where it once was taken for something else.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { writeAgentSkill } from '../write-agent-skill.ts';
import { writeSkill } from '../write-skill.ts';
import { openCommandLine, ROOT } from './command.ts';

const { folder, close } = openCommandLine();
afterAll(close);

const SLOW = `
  import time
  def execute(params):
      open("/workspace/begun", "w").close()
      time.sleep(60)
`;
const CAPABILITIES = { filesystem: [{ path: '${workspace}', access: 'read-write' }] };

/** Interrupts a command as soon as the skill that it runs has begun. */
async function interrupted(args: string[], rest: string[] = []): Promise<{ code: number; stdout: string }> {
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  chmodSync(workspace, 0o777);
  const child = spawn(
    process.execPath,
    [join(ROOT, 'bin/skillcell.js'), ...args, '--workspace', workspace, ...rest],
    {
      cwd: ROOT,
      env: { ...process.env, SKILLCELL_HOME: join(folder, 'home'), NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const stdout = text(child.stdout);
  await expect.poll(() => existsSync(join(workspace, 'begun'))).toBe(true);
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number];
  return { code, stdout: await stdout };
}

test('record that is interrupted ends with 130 and writes no manifest', async () => {
  const skill = writeSkill(folder, { source: SLOW, manifest: { capabilities: CAPABILITIES } });
  const before = readFileSync(join(skill, 'manifest.yaml'), 'utf8');
  const { code, stdout } = await interrupted([
    'record',
    skill,
    '--params',
    '{}',
    '--write',
    '--allow-write',
    '${workspace}',
  ]);
  expect([code, stdout]).toEqual([130, '']);
  expect(readFileSync(join(skill, 'manifest.yaml'), 'utf8')).toBe(before);
});

test('record of a command that is interrupted ends with 130 and writes no overlay', async () => {
  const skill = writeAgentSkill(folder, {
    files: { 'scripts/slow.py': 'import time\nopen("/workspace/begun", "w").close()\ntime.sleep(60)\n' },
  });
  const command = ['--allow-write', '${workspace}', '--write', '--', 'python', 'scripts/slow.py'];
  const { code, stdout } = await interrupted(['record', skill], command);
  expect([code, stdout]).toEqual([130, '']);
  expect(existsSync(join(folder, 'home/skills'))).toBe(false);
});

test('test that is interrupted ends with 130 and counts no case as failed', async () => {
  const skill = writeSkill(folder, { source: SLOW, manifest: { capabilities: CAPABILITIES } });
  writeFileSync(join(skill, 'cases.json'), '[{"params":{},"result":1},{"params":{},"result":1}]');
  const { code, stdout } = await interrupted(['test', skill]);
  expect([code, stdout]).toEqual([130, '']);
});

test('a call that is cancelled while the machine is probed is cancelled, whatever the probes say', async () => {
  const skill = writeSkill(folder, {
    source: 'def execute(params):\n    return 1\n',
    manifest: { execution: ['container'], container: { image: 'localhost/none:1' } },
  });
  await using runtime = createRuntime({ home: join(folder, 'home') });
  const loaded = await runtime.load(skill);
  const controller = new AbortController();
  const load = (): Promise<typeof loaded> => {
    controller.abort();
    return Promise.resolve(loaded);
  };
  const outcome = await runtime.execute(skill, {}, { load, signal: controller.signal, reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
});
