/**
 * A service whose policy changes while it runs.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addToken } from '../../src/http/access-file.ts';
import { packageRoot } from '../../src/inside.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { openStage } from './stage.ts';

const SLEEPS = `
  import time
  def execute(params):
      time.sleep(params.get("seconds", 0))
      return "slept"
`;
const DENY = '{ match: "test/sleeps", decision: deny }';

interface Answer {
  ok: boolean;
  error?: { code: string };
}

interface Serving {
  child: ChildProcess;
  url: string;
  folder: string;
  policy: string;
  notes: () => string;
  execute: () => Promise<Answer>;
  readiness: () => Promise<{ policy: { digest: string; state: string; waiting: string[] } }>;
  metrics: () => Promise<string>;
}

async function serve(policyText: string, more: readonly string[] = []): Promise<Serving> {
  const folder = openFolder();
  writeSkill(folder, { id: 'test/sleeps', source: SLEEPS });
  const policy = join(folder, 'policy.yaml');
  writeFileSync(policy, policyText);
  const bin = join(packageRoot(), 'bin/skillcell.js');
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--policy', policy, ...more], {
    cwd: folder,
    env: { ...process.env, SKILLCELL_HOME: join(folder, 'home') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGTERM');
    await ended;
    removeFolder(folder);
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await expect.poll(() => stderr).toMatch(/token in \S+, valid/);
  const url = /http:\S+/.exec(stdout)?.[0] ?? '';
  const token = readFileSync(/token in (\S+), valid/.exec(stderr)?.[1] ?? '', 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const execute = async (): Promise<Answer> => {
    const path = `${url}/v1/skills/test/sleeps/execute`;
    const response = await fetch(path, { method: 'POST', headers, body: '{"params":{}}' });
    return (await response.json()) as Answer;
  };
  const get = (path: string): Promise<Response> => fetch(`${url}${path}`, { headers });
  return {
    ...{ child, url, folder, policy, execute },
    notes: () => stderr,
    readiness: async () => (await (await get('/readyz')).json()) as never,
    metrics: async () => (await get('/metrics')).text(),
  };
}

describe('skillcell serve', () => {
  test('denies from the next call on, allows again only after SIGHUP, and survives a broken file', async () => {
    const serving = await serve(`skills: [{ match: "*", decision: allow }]`);
    expect(await serving.execute()).toMatchObject({ ok: true });
    const { policy: first } = await serving.readiness();
    expect(first).toMatchObject({ state: 'current', waiting: [] });

    writeFileSync(serving.policy, `skills: [${DENY}, { match: "*", decision: allow }]`);
    expect(await serving.execute()).toMatchObject({ ok: false, error: { code: 'untrusted' } });
    const { policy: denying } = await serving.readiness();
    expect(denying.digest).not.toBe(first.digest);
    expect(await serving.metrics()).toContain(
      `skillcell_policy_info{digest="${denying.digest}",state="current"} 1`,
    );
    serving.child.kill('SIGHUP');
    await expect.poll(serving.notes).toContain('The policy was reloaded');

    writeFileSync(serving.policy, `skills: [{ match: "*", decision: allow }]`);
    expect(await serving.execute()).toMatchObject({ ok: false, error: { code: 'untrusted' } });
    expect((await serving.readiness()).policy).toEqual({
      digest: denying.digest,
      state: 'waiting',
      waiting: ['skills and publishers'],
    });

    writeFileSync(serving.policy, 'skills: [');
    serving.child.kill('SIGHUP');
    await expect.poll(serving.notes).toContain('What was in force stays in force');
    expect(await serving.execute()).toMatchObject({ ok: false, error: { code: 'untrusted' } });
    expect((await serving.readiness()).policy).toMatchObject({ digest: denying.digest, state: 'broken' });

    writeFileSync(serving.policy, `skills: [{ match: "*", decision: allow }]`);
    serving.child.kill('SIGHUP');
    await expect
      .poll(async () => (await serving.readiness()).policy)
      .toMatchObject({ digest: first.digest, state: 'current' });
    expect(await serving.execute()).toMatchObject({ ok: true });
    expect(serving.child.exitCode).toBeNull();
  });
});

describe('skillcell serve --tenants', () => {
  test('refuses a removed tenant from the next request on, and serves a new one only after SIGHUP', async () => {
    const place = openFolder();
    onTestFinished(() => removeFolder(place));
    const file = join(place, 'tenants.yaml');
    const write = (...names: string[]): void =>
      writeFileSync(
        file,
        JSON.stringify({ version: 1, tenants: Object.fromEntries(names.map((name) => [name, {}])) }),
      );
    const access = join(place, 'access.json');
    const tokens = ['first', 'second'].map((name) =>
      addToken(access, { name, tenant: name, scopes: ['call'] }),
    );
    write('first');
    const serving = await serve('{}', ['--tenants', file, '--access', access]);
    const statusOf = async (at: number): Promise<number> => {
      const headers = { authorization: `Bearer ${tokens[at] ?? ''}`, 'content-type': 'application/json' };
      const path = `${serving.url}/v1/skills/test/sleeps/execute`;
      return (await fetch(path, { method: 'POST', headers, body: '{}' })).status;
    };
    expect([await statusOf(0), await statusOf(1)]).toEqual([200, 401]);
    write('second');
    expect([await statusOf(0), await statusOf(1)]).toEqual([401, 401]);
    serving.child.kill('SIGHUP');
    await expect.poll(serving.notes).toContain('The tenants were reloaded');
    expect([await statusOf(0), await statusOf(1)]).toEqual([401, 200]);
  });

  test('does not start with a file that it cannot enforce', () => {
    const place = openFolder();
    onTestFinished(() => removeFolder(place));
    const file = join(place, 'tenants.yaml');
    writeFileSync(file, JSON.stringify({ version: 1, tenants: { a: { workspce: '/srv' } } }));
    const bin = join(packageRoot(), 'bin/skillcell.js');
    const { status, stderr } = spawnSync(process.execPath, [bin, 'serve', '--port', '0', '--tenants', file], {
      cwd: place,
      env: { ...process.env, SKILLCELL_HOME: join(place, 'home') },
      encoding: 'utf8',
    });
    expect(stderr).toContain('workspce');
    expect(status).toBe(2);
  });
});

describe('the policy of a call', () => {
  test('is that of its turn: a queued call gets the new one, a running call keeps its own', async () => {
    let policy = parsePolicy('', { file: 'policy.yaml' });
    await using stage = await openStage({
      skills: { sleeps: { source: SLEEPS, manifest: { limits: { timeout: '120s' } } } },
      limits: { limits: { concurrent: 1 } },
      runtime: { policy: () => policy },
    });
    const running = stage.execute('test/sleeps', { seconds: 15 });
    const states = async (): Promise<string[]> => {
      const { running: calls } = (await (await stage.ask('/v1/calls', { as: 'admin' })).json()) as {
        running: { state: string }[];
      };
      return calls.map(({ state }) => state);
    };
    await expect.poll(states).toEqual(['running']);
    const queued = stage.execute('test/sleeps');
    await expect.poll(states).toEqual(['running', 'waiting']);
    policy = parsePolicy(`skills: [${DENY}]`, { file: 'policy.yaml' });
    expect(await (await running).json()).toMatchObject({ ok: true, result: 'slept' });
    expect(await (await queued).json()).toMatchObject({ ok: false, error: { code: 'untrusted' } });
  });
});
