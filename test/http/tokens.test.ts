/**
 * Tokens: listed, revoked and shuffled while a service runs.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCommandLine, type CommandLine } from '../cli/command.ts';
import { openStage } from './stage.ts';
import { listTokens, revokeToken, rotateToken } from '../../src/http/tokens.ts';

const SLEEPS = `
  import time
  def execute(params):
      time.sleep(params.get("seconds", 0))
      return "slept"
`;

describe('skillcell tokens', () => {
  let line: CommandLine;
  beforeEach(() => (line = openCommandLine()));
  afterEach(() => line.close());

  test('creates, lists, rotates and revokes, and shows each secret once', async () => {
    const made = await line.run(['tokens', 'create', 'laptop', '--tenant', 'acme', '--expires', '30']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sct_[\w-]{43}\n$/) as string });
    const file = join(line.folder, 'home/access.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const shuffled = await line.run(['tokens', 'rotate', 'laptop', '--grace', '1h']);
    expect(shuffled.stdout).toMatch(/^sct_/);
    expect(shuffled.stdout).not.toBe(made.stdout);
    const listed = await line.run(['tokens', 'list', '--json']);
    const tokens = JSON.parse(listed.stdout) as Record<string, unknown>[];
    expect(tokens).toMatchObject([
      { name: 'laptop', tenant: 'acme', state: 'valid', last_used_at: null },
      { name: 'laptop', tenant: 'acme', scopes: ['call', 'read'], state: 'valid' },
    ]);
    const [old, current] = tokens.map((one) => Date.parse(String(one['expires_at'])));
    expect(old).toBeLessThan(Date.now() + 2 * 3_600_000);
    expect(current).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    expect(listed.stdout).not.toContain('sct_');
    expect(listed.stdout).not.toContain('sha256');
    expect((await line.run(['tokens', 'revoke', 'laptop'])).stdout).toContain('Revoked 2 tokens');
    expect((await line.run(['tokens'])).stderr).toContain('No tokens yet');
  });

  test.each([
    [['revoke', 'nobody'], 'There is no token "nobody"'],
    [['rotate', 'nobody'], 'There is no token "nobody"'],
    [['create', 'a b'], 'only letters'],
    [['create', 'a', '--scopes', 'all'], 'unknown scope "all"'],
    [['create', 'a', '--expires', '-1'], 'not a number of days'],
  ])('refuses %j', async (args, said) => {
    const ended = await line.run(['tokens', ...args]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(said);
  });

  test('loses none of the tokens that several processes create at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const ended = await Promise.all(names.map((name) => line.run(['tokens', 'create', name])));
    expect(ended.map(({ code }) => code)).toEqual(names.map(() => 0));
    const listed = listTokens(join(line.folder, 'home/access.json')).map(({ name }) => name);
    expect(listed.toSorted()).toEqual(names);
  });
});

describe('a running service', () => {
  test('refuses a revoked token at once, even for a call that waits', async () => {
    await using stage = await openStage({
      skills: { sleeps: { source: SLEEPS } },
      limits: { limits: { concurrent: 1 } },
    });
    const file = join(stage.folder, 'access.json');
    const states = async (): Promise<string[]> => {
      const { running: calls } = (await (await stage.ask('/v1/calls', { as: 'admin' })).json()) as {
        running: { state: string }[];
      };
      return calls.map(({ state }) => state);
    };
    const running = stage.execute('test/sleeps', { seconds: 3 }, { as: 'other' });
    await expect.poll(states).toEqual(['running']);
    const waiting = stage.execute('test/sleeps', {}, { as: 'caller' });
    await expect.poll(states).toEqual(['running', 'waiting']);
    expect(revokeToken(file, 'caller')).toBe(1);
    expect((await stage.execute('test/sleeps')).status).toBe(401);
    expect((await running).status).toBe(200);
    const refused = await waiting;
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ ok: false, error: { code: 'untrusted' } });
  });

  test('takes a shuffled secret at once, and records when a token was used', async () => {
    const stage = await openStage({ skills: {} });
    const file = join(stage.folder, 'access.json');
    const { secret } = rotateToken(file, 'reader', 0);
    expect((await stage.ask('/v1/me', { as: 'reader' })).status).toBe(401);
    expect((await stage.ask('/v1/me', { as: secret })).status).toBe(200);
    await stage.running.close();
    const used = listTokens(file).find(({ name }) => name === 'reader')?.last_used_at ?? '';
    expect(Date.parse(used)).toBeLessThanOrEqual(Date.now());
    expect(statSync(`${file}.used`).mode & 0o777).toBe(0o600);
    expect(readFileSync(`${file}.used`, 'utf8')).not.toContain(secret);
    await stage[Symbol.asyncDispose]();
  });

  test('lets no request in while the access file is broken', async () => {
    await using stage = await openStage({ skills: {} });
    writeFileSync(join(stage.folder, 'access.json'), '{');
    const response = await stage.ask('/v1/me', { as: 'admin' });
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain(stage.folder);
    const ready = await stage.ask('/readyz');
    expect([ready.status, await ready.json()]).toMatchObject([503, { hindrances: [{ part: 'access' }] }]);
  });
});
