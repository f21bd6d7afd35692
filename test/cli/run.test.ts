/**
 * `skillcell run` as a new user would try it.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { writeSkill } from '../write-skill.ts';
import { cellsOf, openCommandLine, PROMPT_REWRITER, ROOT } from './command.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

const ECHO = 'def execute(params):\n    print("a log line")\n    return params\n';

describe('skillcell run', () => {
  test('prints one JSON object and exits with 0 for the README example', async () => {
    const params = '{"raw_text":"Please   could you kindly summarize this"}';
    const ended = await run(['run', PROMPT_REWRITER, '--params', params]);
    expect(ended.code).toBe(0);
    const result = JSON.parse(ended.stdout) as Record<string, unknown>;
    expect(result['compressed_text']).toContain('ummarize');
    expect(result['new_tokens']).toBeLessThan(Number(result['original_tokens']));
    expect(ended.stdout.trim().split('\n')).toHaveLength(1);
  });

  test('accepts an id instead of a folder', async () => {
    const ended = await run(['run', 'optimization/prompt_rewriter', '--params', '{"raw_text":"Hello"}']);
    expect(ended.code).toBe(0);
  });

  test('reads parameters from the option, a file or stdin', async () => {
    const skill = writeSkill(folder, { source: ECHO });
    const file = join(folder, 'params.json');
    writeFileSync(file, '{"from":"file ä"}');
    const ended = await Promise.all([
      run(['run', skill, '--params', '{"from":"option"}']),
      run(['run', skill, '--params-file', file]),
      run(['run', skill], { input: '{"from":"stdin"}\n' }),
      run(['run', skill]),
    ]);
    expect(ended.map(({ stdout }) => JSON.parse(stdout) as unknown)).toEqual([
      { from: 'option' },
      { from: 'file ä' },
      { from: 'stdin' },
      {},
    ]);
  });

  test('prints only the result to stdout; logs and warnings go to stderr', async () => {
    const ended = await run(['run', writeSkill(folder, { source: ECHO }), '--params', '{"a":1}']);
    expect(ended.stdout).toBe('{"a":1}\n');
    expect(ended.stderr).toContain('a log line');
    expect(ended.stderr).toContain('warning: The bundle has no skill.lock');
    expect(ended.stderr).not.toContain('\u001b');
    const [, command = ''] = /Create one with `skillcell ([^`]+)`/.exec(ended.stderr) ?? [];
    expect(await run(command.split(' '))).toMatchObject({ code: 0 });
  });

  test('--json prints the whole outcome of a success and of a failure', async () => {
    const skill = writeSkill(folder, { source: ECHO });
    const fine = await run(['run', skill, '--params', '{"a":1}', '--json']);
    expect(JSON.parse(fine.stdout)).toMatchObject({
      ok: true,
      result: { a: 1 },
      logs: 'a log line\n',
      execution: { mode: 'subprocess', wall: 'jail', engine: 'python', fresh: true },
      usage: { wall_ms: expect.any(Number) },
      capabilities: { used: [], denied: [] },
    });
    const bad = await run(['run', 'examples/hostile/read_etc_passwd', '--json']);
    expect(bad.code).toBe(3);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      ok: false,
      error: { code: 'capability_denied', detail: { capability: 'filesystem' } },
    });
  });

  test('exits with 3 on a denied act, names the act and how to declare it, and shows no content', async () => {
    const ended = await run(['run', '--isolated', 'examples/hostile/read_etc_passwd']);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('error[capability_denied]: The skill may not read /etc/passwd');
    expect(ended.stderr).toContain('fix: ');
    expect(ended.stderr).not.toContain('root:');
  });

  test('exits with 1 and the trace on an error in the skill', async () => {
    const source = 'def execute(params):\n    return 1 / 0\n';
    const ended = await run(['run', writeSkill(folder, { source })]);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('error[skill_error]: The skill raised ZeroDivisionError');
    expect(ended.stderr).toContain('/skill/skill.py", line 2, in execute');
  });

  test('ends a loop at its timeout with exit code 4 and leaves no process behind', async () => {
    const skill = writeSkill(folder, { source: 'def execute(params):\n    while True:\n        pass\n' });
    const ended = await run(['run', skill, '--timeout', '1s']);
    expect(ended).toMatchObject({ code: 4, stdout: '' });
    expect(ended.stderr).toContain('error[resource_exceeded]: The skill exceeded its limit "timeout" of 1s');
    expect(cellsOf(folder)).toEqual([]);
  });

  test('--memory lowers the limit', async () => {
    const source = 'def execute(params):\n    return len(bytearray(64 << 20))\n';
    const skill = writeSkill(folder, { source });
    expect((await run(['run', skill])).stdout).toBe(`${64 << 20}\n`);
    const ended = await run(['run', skill, '--memory', '40MiB']);
    expect(ended).toMatchObject({ code: 4, stdout: '' });
    expect(ended.stderr).toContain('"memory" of 40MiB');
  });

  test('exits with 2 and names the file if one byte of a locked skill has changed', async () => {
    const skill = writeSkill(folder, { source: ECHO, files: { 'data.txt': 'one' } });
    expect((await run(['lock', skill])).code).toBe(0);
    expect((await run(['run', skill])).code).toBe(0);
    appendFileSync(join(skill, 'data.txt'), '!');
    const ended = await run(['run', skill]);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/error\[manifest_drift\]: .*data\.txt/);
  });

  test('--workspace sets the value of ${workspace}', async () => {
    const workspace = join(folder, 'workspace');
    mkdirSync(join(workspace, 'notes'), { recursive: true });
    chmodSync(join(workspace, 'notes'), 0o777);
    writeFileSync(join(workspace, 'notes/a.txt'), 'a note');
    const skill = writeSkill(folder, {
      manifest: { capabilities: { filesystem: [{ path: '${workspace}/notes', access: 'read-write' }] } },
      source: 'def execute(params):\n    return open("/workspace/notes/a.txt").read()\n',
    });
    expect(await run(['run', skill, '--workspace', workspace])).toMatchObject({
      code: 0,
      stdout: '"a note"\n',
    });
    const without = await run(['run', skill]);
    expect(without).toMatchObject({ code: 3, stdout: '' });
    expect(without.stderr).toContain('--workspace');
  });

  test('--policy takes precedence over the manifest', async () => {
    const policy = join(folder, 'policy.yaml');
    writeFileSync(policy, 'ceilings: { timeout: 500ms }\n');
    const source = 'import time\ndef execute(params):\n    time.sleep(30)\n';
    const ended = await run(['run', writeSkill(folder, { source }), '--policy', policy]);
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain('"timeout" of 500ms');
  });

  test('--explain prints the grant and what enforces it to stderr', async () => {
    const ended = await run(['run', writeSkill(folder, { source: ECHO }), '--explain']);
    expect(ended).toMatchObject({ code: 0, stdout: '{}\n' });
    expect(ended.stderr).toMatch(/memory +256MiB +(kernel|watchdog)/);
  });

  test('prints no control characters from a skill', async () => {
    const source =
      'def execute(params):\n    print("\\x1b[2J\\x1b]0;title\\x07")\n    raise ValueError("\\x1b[31m")\n';
    const ended = await run(['run', writeSkill(folder, { source })]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).not.toContain('\u001b');
    expect(ended.stderr).not.toContain('\u0007');
  });
});

test('Ctrl-C cancels the call with exit code 130 and a receipt that says so', async () => {
  const skill = writeSkill(folder, {
    source: 'import time\ndef execute(params):\n    print("begun", flush=True)\n    time.sleep(60)\n',
  });
  const env = { ...process.env, SKILLCELL_HOME: join(folder, 'home'), NO_COLOR: '1' };
  const child = spawn(process.execPath, [join(ROOT, 'bin/skillcell.js'), 'run', skill, '--json'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = text(child.stdout);
  await expect.poll(() => cellsOf(folder).length).toBeGreaterThan(0);
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number];
  const outcome = JSON.parse(await output) as { call_id: string; error: { code: string } };
  expect([code, outcome.error.code]).toEqual([130, 'cancelled']);
  const shown = await run(['audit', 'show', outcome.call_id]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ receipt: { code: 'cancelled' } });
});
