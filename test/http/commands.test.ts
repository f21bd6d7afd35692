/**
 * Commands of Agent Skills folders over HTTP: the parameters are the command and its standard input.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ skills: {} });
  const folder = join(stage.folder, 'skills/talker');
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), '---\nname: talker\ndescription: Talks.\n---\n\nRun it.\n');
  writeFileSync(join(folder, 'scripts/talk.py'), dedent(SCRIPT));
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

test('the events of a command say which stream a text is from', { timeout: LONG }, async () => {
  const response = await stage.execute('talker', PARAMS, { headers: { accept: 'text/event-stream' } });
  const logs = [...(await response.text()).matchAll(/^event: log\ndata: (.*)$/gm)].map(
    ([, data = '{}']) => JSON.parse(data) as { text: string; stream: string },
  );
  const of = (wanted: string): string =>
    logs
      .filter(({ stream }) => stream === wanted)
      .map(({ text }) => text)
      .join('');
  expect([of('stdout'), of('stderr')]).toEqual(['read some text\n', "to stderr ['a b']\n"]);
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
