/**
 * The command: its output, a graceful stop, and the receipts of its calls if it is killed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAuditLog } from '../../src/audit/log.ts';
import { packageRoot } from '../../src/inside.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

const SOURCE = `
  import time
  def execute(params):
      print("begun", flush=True)
      time.sleep(params["seconds"])
      return "slept"
`;

let folder: string;

beforeAll(() => {
  folder = openFolder();
  writeSkill(folder, { id: 'test/sleeps', source: SOURCE });
});

afterAll(() => removeFolder(folder));

interface Serving {
  child: ChildProcess;
  url: string;
  token: string;
}

function command(...args: string[]): ChildProcess {
  return spawn(process.execPath, [join(packageRoot(), 'bin/skillcell.js'), 'serve', ...args], {
    cwd: folder,
    env: { ...process.env, SKILLCELL_HOME: join(folder, 'home') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function outputOf(
  child: ChildProcess,
): Promise<{ stdout: string; stderr: string; code: number | null }> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { stdout, stderr, code };
}

/** Without a terminal, the token is in a private file and never in the output. */
function tokenOf(note: string): string {
  const file = /token in (\S+), valid/.exec(note)?.[1] ?? '';
  const token = readFileSync(file, 'utf8').trim();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(note).not.toContain(token);
  return token;
}

async function serve(...args: string[]): Promise<Serving> {
  const child = command('--port', '0', ...args);
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const [note] = (await once(child.stderr!, 'data')) as [Buffer];
  return {
    child,
    url: /http:\S+/.exec(line.toString())?.[0] ?? '',
    token: tokenOf(note.toString()),
  };
}

/** Starts a call with events; resolves when the skill has started. */
async function begin(
  { url, token }: Serving,
  seconds: number,
): Promise<{ id: string; rest: Promise<string> }> {
  const response = await fetch(`${url}/v1/skills/test/sleeps/execute`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ params: { seconds } }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const read = async (): Promise<boolean> => {
    const { value, done } = await reader.read();
    text += value ?? '';
    return !done;
  };
  while (!text.includes('begun')) await read();
  const id = /"call_id":"(\w+)"/.exec(text)?.[1] ?? '';
  const rest = (async () => {
    while (await read());
    return text;
  })();
  return { id, rest };
}

describe('skillcell serve', () => {
  test('creates tokens and shows each once', async () => {
    const made = await outputOf(command('--new-token', 'laptop', '--scopes', 'call', '--tenant', 'acme'));
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sct_[\w-]{43}\n$/) as string });
    expect((await outputOf(command('--new-token', 'laptop'))).stderr).toContain('already');
    expect((await outputOf(command('--new-token', 'b', '--scopes', 'all'))).code).toBe(2);
  });

  test('lets calls finish on a request to stop, and reports that it is not ready', async () => {
    const serving = await serve();
    expect((await fetch(`${serving.url}/v1/me`)).status).toBe(401);
    const { rest } = await begin(serving, 3);
    const ended = once(serving.child, 'exit');
    serving.child.kill('SIGTERM');
    const readiness = async (): Promise<number> => (await fetch(`${serving.url}/readyz`)).status;
    await expect.poll(readiness).toBe(503);
    expect(await rest).toContain('"result":"slept"');
    expect(await ended).toEqual([0, null]);
  });

  test('detects that it was killed, and its calls get receipts', async () => {
    const serving = await serve();
    const { id, rest } = await begin(serving, 20);
    const ended = once(serving.child, 'exit');
    const broken = expect(rest).rejects.toThrow();
    serving.child.kill('SIGKILL');
    await Promise.all([ended, broken]);
    const log = openAuditLog({ file: join(folder, 'home/audit.db') });
    expect(log.show(id)?.receipt).toMatchObject({
      code: 'internal',
      message: 'The runtime ended before this call did',
      skill: { name: 'test/sleeps' },
      caller: 'http:local:console',
    });
    expect(log.verify().ok).toBe(true);
    log.close();
  });
});
