/**
 * Secrets and recording for requests over TLS.
 *
 * @module
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../../src/broker/gateway/tls/authority.ts';
import { createRuntime, parsePolicy, type Runtime, type RuntimeOptions } from '../../src/index.ts';
import { secureServer } from '../broker/gateway/tls/secure-server.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

const VALUE = 'ghp_invented0123456789abcdefghijklmno';
const authority = createAuthority();
const seen: (string | undefined)[] = [];
const secure = secureServer(authority, '127.0.0.1', (request: IncomingMessage, response: ServerResponse) => {
  seen.push(request.headers.authorization);
  // A server that echoes requests, compressed if the client accepts that.
  response.end(`${request.headers['accept-encoding']} ${request.headers.authorization}`);
});
let port = 0;

const opened = openTestRuntime({ audit: false });
const runtimeWith = (policy: string, options: RuntimeOptions = {}): Runtime =>
  createRuntime({
    home: opened.runtime.home,
    cwd: opened.folder,
    env: { API_KEY: VALUE },
    allowEnv: ['API_KEY'],
    policy: parsePolicy(`network: { allow_private: ["127.0.0.1"]${policy} }`, { file: 'policy' }),
    network: { ca: [authority.certificate] },
    ...options,
  });

beforeAll(async () => {
  secure.server.listen(0, '127.0.0.1');
  await once(secure.server, 'listening');
  ({ port } = secure.server.address() as AddressInfo);
});

afterAll(async () => {
  secure.inner.closeAllConnections();
  secure.server.close();
  await opened.close();
});

const source = `
  import os, urllib.request
  def execute(params):
      key = os.environ["API_KEY"]
      headers = {"Authorization": "token " + key, "Accept-Encoding": "gzip"}
      answer = urllib.request.urlopen(urllib.request.Request("https://127.0.0.1:%d/repos/7" % params["port"], None, headers))
      return {"key": key, "answer": answer.read().decode()}
`;

const skill = (manifest: object = {}): string =>
  writeSkill(opened.folder, {
    source,
    manifest: {
      capabilities: { network: [{ host: '127.0.0.1', port }] },
      env_vars: { API_KEY: { required: true, secret: true, hosts: ['127.0.0.1'] } },
      ...manifest,
    },
  });

describe.each([
  ['wasm', ''],
  ['subprocess', ', inspect_tls: true'],
] as const)('in mode %s', (mode, policy) => {
  test('a secret is sent through TLS, and its echo is scrubbed', async () => {
    await using runtime = runtimeWith(policy);
    const outcome = await runtime.execute(skill(), { port }, { execution: mode });
    expect(seen.at(-1)).toBe(`token ${VALUE}`);
    expect(outcome.result).toEqual({
      key: expect.stringMatching(/^ghp_[A-Za-z0-9]{33}$/) as string,
      answer: `identity token ${'*'.repeat(VALUE.length)}`,
    });
  });

  test('recording sees methods and paths', async () => {
    await using runtime = runtimeWith(policy);
    const allow = { network: true, secrets: ['API_KEY'] };
    const bare = skill({ capabilities: {}, env_vars: {} });
    const { manifest, outcome } = await runtime.record(bare, { port }, { execution: mode, allow });
    expect(outcome).toMatchObject({ ok: true });
    expect(manifest).toMatch(/methods: \[ GET \], paths: \[ \/repos\/\* \]/);
    expect(manifest).toMatch(/secret: true, hosts: \[ 127\.0\.0\.1 \]/);
  });
});

describe('without TLS inspection', () => {
  test('a skill with a secret for an https host does not load', async () => {
    await using runtime = runtimeWith('');
    const before = seen.length;
    const outcome = await runtime.execute(skill(), { port }, { execution: 'subprocess', reject: false });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'unenforceable', detail: { fields: ['network.inside_tls'] } },
    });
    expect(outcome.ok ? '' : outcome.error.fix).toContain('inspect_tls');
    expect(seen).toHaveLength(before);
  });

  test('recording sees the host, and the server sees the placeholder', async () => {
    await using runtime = runtimeWith('');
    const allow = { network: true, secrets: ['API_KEY'] };
    const bare = skill({ capabilities: {}, env_vars: {} });
    const { manifest } = await runtime.record(bare, { port }, { execution: 'subprocess', allow });
    expect(seen.at(-1)).not.toContain(VALUE);
    expect(manifest).toMatch(/host: 127\.0\.0\.1, port: \d+, scheme: https \}/);
  });
});

test.each([
  ['pool', { size: 1 }],
  ['zygote', { size: 1, ready: 'zygote' }],
] as const)('cells from a %s have separate placeholders', async (start, pool) => {
  await using runtime = runtimeWith(', inspect_tls: true', { pool });
  const loaded = await runtime.load(skill());
  const keys: unknown[] = [];
  for (let call = 0; call < 2; call++) {
    await runtime.warm(loaded);
    const { result, execution } = await runtime.execute(loaded, { port }, { execution: 'subprocess' });
    expect(execution?.start).toBe(start);
    expect(seen.at(-1)).toBe(`token ${VALUE}`);
    keys.push((result as { key: string }).key);
  }
  expect(new Set(keys).size).toBe(2);
});
