/**
 * A skill uses a key that it never holds: whole calls against real servers on loopback.
 *
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRuntime,
  parsePolicy,
  type Outcome,
  type RuntimeOptions,
  type Skill,
} from '../../src/index.ts';
import { TestServer } from '../broker/gateway/http-server.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

const VALUE = 'sk-invented/0123456789+abcdefghij';
const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy' });
const env = { API_KEY: VALUE, PLAIN: 'plain', NOT_DECLARED: 'must never be seen' };
const { runtime, folder, close } = openTestRuntime({ policy, env, audit: { keepContent: true } });

const source = `
  import json, os, urllib.request
  def execute(params):
      key = os.environ["API_KEY"]
      url = "http://127.0.0.1:%d%s" % (params["port"], params.get("path", "/").replace("KEY", key))
      headers = {"Authorization": "Bearer " + key} if params.get("header") else {}
      body = key.encode() if params.get("body") else None
      print("the key is", key)
      answer = urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=10)
      return {"key": key, "headers": dict(answer.headers), "body": answer.read().decode(), "env": dict(os.environ)}
`;

/** Echoes everything it receives, in every part of a response. */
const echo = (): Promise<TestServer> =>
  TestServer.start((request, response) => {
    const seen = JSON.stringify({ url: request.url, headers: request.headers });
    const again = Buffer.from(seen).toString('base64');
    response.setHeader('x-echo', request.headers.authorization ?? '');
    response.end(`${seen} ${again} ${encodeURIComponent(seen)}`);
  });

let friend: TestServer;
let foe: TestServer;

beforeAll(async () => {
  friend = await echo();
  foe = await echo();
});

afterAll(async () => {
  await friend[Symbol.asyncDispose]();
  await foe[Symbol.asyncDispose]();
  await close();
});

async function skillFor(mode: string, hosts = ['127.0.0.1']): Promise<Skill> {
  const network = [friend, foe].map(({ port }) => ({ host: '127.0.0.1', port, scheme: 'http' }));
  const env_vars = { API_KEY: { required: true, secret: true, hosts }, PLAIN: {} };
  const manifest = { capabilities: { network }, execution: [mode], env_vars };
  return runtime.load(writeSkill(folder, { source, manifest }));
}

async function call(skill: Skill, params: object): Promise<Outcome> {
  return runtime.execute(skill, { port: friend.port, ...params }, { reject: false });
}

describe.each(['wasm', 'subprocess'])('secrets in mode %s', (mode) => {
  let skill: Skill;
  beforeAll(async () => {
    skill = await skillFor(mode);
    await runtime.warm(skill);
  });

  test('reach the declared host, and the skill gets a placeholder', async () => {
    const outcome = await call(skill, { header: true, path: '/?k=KEY', body: true });
    const seen = friend.seen.at(-1);
    const headers = seen?.headers.map(([name, value]) => [name.toLowerCase(), value]);
    expect(headers).toContainEqual(['authorization', `Bearer ${VALUE}`]);
    expect(new URL(seen?.url ?? '', 'http://x').searchParams.get('k')).toBe(VALUE);
    expect(new URLSearchParams(seen?.body).keys().next().value).toBe(VALUE);
    expect(outcome).toMatchObject({
      ok: true,
      result: { key: expect.stringMatching(/^sk-[A-Za-z0-9]{30,}$/) },
    });
    expect(outcome.logs).toMatch(/the key is sk-[A-Za-z0-9]{30,}/);
  });

  test('echoed by the server reach neither the skill, the caller nor the receipt', async () => {
    const outcome = await call(skill, { header: true, path: '/?k=KEY' });
    const receipt = runtime.audit.show(outcome.call_id);
    for (const text of [JSON.stringify(outcome), JSON.stringify(receipt)]) {
      expect(text).not.toContain(VALUE);
      expect(text).not.toContain(encodeURIComponent(VALUE));
      expect(text).not.toContain(Buffer.from(VALUE).toString('base64').slice(4, -4));
    }
    // Masked on its way into the cell, not only on its way out.
    expect(outcome).toMatchObject({
      result: { headers: { 'x-echo': `Bearer ${'*'.repeat(VALUE.length)}` } },
    });
  });

  test('leave only the declared names and a fixed few in the environment', async () => {
    const outcome = await call(skill, {});
    const { env: seen } = (outcome.ok ? outcome.result : {}) as { env: Record<string, string> };
    const plan = await runtime.plan(skill);
    expect(Object.keys(seen).toSorted()).toEqual(
      ['API_KEY', 'PLAIN', ...Object.keys(plan.fixedEnv)].toSorted(),
    );
    expect(seen['PLAIN']).toBe('plain');
  });

  test.each([{ header: true }, { path: '/?k=KEY' }, { body: true }])(
    'do not reach a host that they are not for: %j',
    async (params) => {
      const strict = await skillFor(mode, ['api.test']);
      const outcome = await call(strict, { ...params, port: foe.port });
      expect(foe.seen).toEqual([]);
      expect(outcome).toMatchObject({
        ok: false,
        error: {
          code: 'capability_denied',
          detail: { capability: 'secret', asked: 'send API_KEY to 127.0.0.1' },
        },
        capabilities: { denied: [{ declared: expect.stringContaining('exfiltration attempt') }] },
      });
      expect(outcome.ok ? '' : outcome.error.fix).toContain('env_vars.API_KEY.hosts');
      expect(runtime.audit.show(outcome.call_id)).toMatchObject({
        receipt: { denied: [{ capability: 'secret' }] },
      });
    },
  );

  test('have another placeholder in every process', async () => {
    await using cold = createRuntime({
      home: runtime.home,
      cwd: folder,
      policy,
      env,
      allowEnv: 'all',
      pool: { size: 0 },
    });
    const keys = await Promise.all(
      [1, 2].map(async () => {
        const { result } = await cold.execute(skill, { port: friend.port });
        return (result as { key: string }).key;
      }),
    );
    expect(keys[0]).not.toBe(keys[1]);
  });
});

describe('a required secret', () => {
  const outcomeWith = async (options: RuntimeOptions): Promise<Outcome> => {
    await using other = createRuntime({
      home: runtime.home,
      cwd: folder,
      policy,
      env: {},
      allowEnv: 'all',
      ...options,
    });
    const skill = await skillFor('wasm');
    return await other.execute(skill, { port: friend.port, header: true }, { reject: false });
  };

  test('must be set before anything runs', async () => {
    friend.seen.length = 0;
    const outcome = await outcomeWith({});
    expect(outcome).toMatchObject({ ok: false, error: { code: 'usage', detail: { variable: 'API_KEY' } } });
    expect(outcome.usage.wall_ms).toBe(0);
    expect(friend.seen).toEqual([]);
  });

  test.each<[string, () => RuntimeOptions]>([
    [
      'a function',
      () => ({
        secrets: (name, { skill }) => (skill.startsWith('test/') && name === 'API_KEY' ? VALUE : undefined),
      }),
    ],
    ['the policy', () => ({ policy: { ...policy, secrets: [{ command: ['/bin/echo', VALUE] }] } })],
  ])('can come from %s', async (_, options) => {
    friend.seen.length = 0;
    const outcome = await outcomeWith(options());
    expect(outcome.ok ? '' : outcome.error.message).toBe('');
    expect(friend.seen[0]?.headers.flat()).toContain(`Bearer ${VALUE}`);
  });
});
