/**
 * Commands of Agent Skills folders over HTTP: the parameters are the command and its standard input.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dedent } from '../write-skill.ts';
import { openStage, type Stage } from './stage.ts';

const LONG = 120_000;
const SCRIPT = `
  import sys
  print("read", sys.stdin.read(), flush=True)
  print("to stderr", sys.argv[1:], file=sys.stderr, flush=True)
  try: open("/etc/hostname")
  except OSError: pass
  sys.exit(6)
`;
/** More pieces than a service keeps as events. */
const MUCH = `
  import os
  for number in range(12000):
      os.write(1, b"%d\\n" % number)
      if number % 4000 == 0: os.write(2, b"\\xc3")
`;
let stage: Stage;

function addTalker(project: string): void {
  const folder = join(project, 'skills/talker');
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), '---\nname: talker\ndescription: Talks.\n---\n\nRun it.\n');
  writeFileSync(join(folder, 'scripts/talk.py'), dedent(SCRIPT));
  writeFileSync(join(folder, 'scripts/much.py'), dedent(MUCH));
}

beforeAll(async () => {
  stage = await openStage({ skills: {} });
  addTalker(stage.folder);
}, LONG);
afterAll(() => stage[Symbol.asyncDispose]());

const PARAMS = { command: ['python', 'scripts/talk.py', 'a b'], stdin: 'some text' };

test('a command gets its standard input, and its output is the result', { timeout: LONG }, async () => {
  const response = await stage.execute('talker', PARAMS);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    ok: true,
    result: { exit_code: 6, stdout: 'read some text\n', stderr: "to stderr ['a b']\n", files: [] },
    capabilities: { denied: [{ asked: 'read /etc/hostname' }] },
  });
});

async function logsOf(response: Response): Promise<{ text: string; stream: string }[]> {
  return [...(await response.text()).matchAll(/^event: log\ndata: (.*)$/gm)].map(
    ([, data = '{}']) => JSON.parse(data) as { text: string; stream: string },
  );
}

function textOf(logs: { text: string; stream: string }[], wanted: string): string {
  return logs.flatMap(({ text, stream }) => (stream === wanted ? [text] : [])).join('');
}

test(
  'the events of a command have all of its output, in order, however many pieces it comes in',
  { timeout: LONG },
  async () => {
    const params = { command: ['python', 'scripts/much.py'] };
    const logs = await logsOf(
      await stage.execute('talker', params, { headers: { accept: 'text/event-stream' } }),
    );
    const numbers = Array.from({ length: 12_000 }, (_, number) => `${number}\n`).join('');
    expect(textOf(logs, 'stdout')).toBe(numbers);
    expect(textOf(logs, 'stderr')).toBe('\ufffd'.repeat(3));
  },
);

test('the events of a command say which stream a text is from', { timeout: LONG }, async () => {
  const response = await stage.execute('talker', PARAMS, { headers: { accept: 'text/event-stream' } });
  const logs = await logsOf(response);
  expect([textOf(logs, 'stdout'), textOf(logs, 'stderr')]).toEqual([
    'read some text\n',
    "to stderr ['a b']\n",
  ]);
});

test.each([
  ['more than a command and its input', { ...PARAMS, write: ['.'] }],
  ['a text as the command', { command: 'python scripts/talk.py' }],
  ['a free shell', { command: ['bash', '-c', 'id'] }],
])('%s is refused', { timeout: LONG }, async (_title, params) => {
  const response = await stage.execute('talker', params);
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(await response.json()).toMatchObject({ ok: false });
});

test('the OpenAPI document says how a command is passed, and what its events have', async () => {
  const text = await (await stage.ask('/openapi.json', { as: 'reader' })).text();
  expect(text).toContain('scripts/x.py');
  expect(text).toMatch(/for a command with `stream`/);
});

describe('where code of the caller is off', () => {
  let strict: Stage;
  beforeAll(async () => {
    strict = await openStage({
      skills: {},
      policy: 'generated_code: false\n',
      listen: { workspace: stage.folder },
    });
    addTalker(strict.folder);
    writeFileSync(join(stage.folder, 'own.py'), 'print("own")\n');
  }, LONG);
  afterAll(() => strict[Symbol.asyncDispose]());

  test.each([
    [['python', '-']],
    [['python3', '-u', '-']],
    [['python', '-c', 'print("own")']],
    [['python', 'own.py']],
    [['/usr/bin/env', 'python', './own.py']],
    [['python', '/workspace/own.py']],
  ])('%j does not run', { timeout: LONG }, async (command) => {
    const response = await strict.execute('talker', { command, stdin: 'print("own")' });
    expect(await response.json()).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
  });
});

test('a running command is neither seen nor cancelled by another tenant', { timeout: LONG }, async () => {
  const running = stage.execute('talker', { command: ['python', '-c', 'import time; time.sleep(60)'] });
  const { live } = stage.running.service;
  await expect.poll(() => live.all[0]?.state).toBe('running');
  const id = live.all[0]?.id ?? '';
  for (const [path, method] of [
    [`/v1/calls/${id}/events`, 'GET'],
    [`/v1/calls/${id}`, 'GET'],
    [`/v1/calls/${id}`, 'DELETE'],
  ] as const)
    expect((await stage.ask(path, { as: 'other', method })).status).toBeGreaterThanOrEqual(400);
  expect((await stage.ask(`/v1/calls/${id}`, { as: 'caller', method: 'DELETE' })).status).toBe(200);
  expect(await (await running).json()).toMatchObject({ error: { code: 'cancelled' } });
});
