/**
 * Network access from a jailed Node: its own clients reach declared hosts through the gateway, and no others.
 *
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../../src/outcome.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime, type TestRuntime } from '../../test-runtime.ts';
import { loopbackPolicy, TwoServers } from '../two-servers.ts';

const servers = new TwoServers();
const { authority, seen } = servers;

beforeAll(() => servers.listen());
afterAll(() => servers.close());

/** Runs a skill with this body; `HTTP` and `HTTPS` are the addresses of the two servers. */
function run(open: TestRuntime, body: string, manifest: Record<string, unknown> = {}): Promise<Outcome> {
  const source = [
    "import http from 'node:http';\nimport https from 'node:https';\nimport net from 'node:net';",
    `const HTTP = 'http://127.0.0.1:${servers.ports.http}', HTTPS = 'https://127.0.0.1:${servers.ports.https}';`,
    'const get = async (url, more) => (await fetch(url, more)).text();',
    'const read = (module, url, more = {}) => new Promise((done, fail) => module.get(url, more, async (response) => done(Buffer.concat(await response.toArray()).toString())).on("error", fail));',
    `export async function execute() {\n${body}\n}`,
  ];
  const dir = writeSkill(open.folder, {
    manifest: { execution: ['subprocess'], capabilities: { network: servers.rules }, ...manifest },
    files: { 'skill.js': source.join('\n') },
  });
  return open.runtime.execute(dir, {}, { reject: false });
}

function openAt(more = ''): TestRuntime {
  const policy = loopbackPolicy(more);
  return openTestRuntime({ policy, pool: { size: 0 }, network: { ca: [authority.certificate] } });
}

describe('a Node cell', () => {
  let open: TestRuntime;
  beforeAll(() => void (open = openAt()));
  afterAll(() => open.close());

  test("reaches declared hosts with Node's own clients", async () => {
    const outcome = await run(
      open,
      'return [await get(HTTP + "/fetch"), await get(HTTPS + "/tls"), await read(http, HTTP + "/client"), await read(https, HTTPS + "/secure")];',
    );
    expect(outcome).toMatchObject({
      ok: true,
      result: ['hello /fetch', 'hello /tls', 'hello /client', 'hello /secure'],
      execution: { engine: 'node' },
      capabilities: { denied: [] },
    });
    expect(outcome.capabilities.used.map(({ asked }) => asked)).toContain(
      `CONNECT https://127.0.0.1:${servers.ports.https}`,
    );
  });

  test.each([
    ['another host', 'get("http://other.test/x?key=1")', 'GET http://other.test/x'],
    ['another host over TLS', 'get("https://other.test/x")', 'CONNECT https://other.test'],
    ['another method', 'get(HTTP + "/x", { method: "DELETE" })', 'DELETE http://HTTP/x'],
    ['another port', 'get("http://127.0.0.1:4009/x")', 'GET http://127.0.0.1:4009/x'],
    ['a redirect out', 'get(HTTP + "/out")', 'GET http://other.test/stolen'],
    ['a secure request by https', 'read(https, "https://other.test/x")', 'CONNECT https://other.test'],
  ])('is denied %s', async (_, expression, asked) => {
    const outcome = await run(open, `return ${expression}`);
    servers.expectDenied(outcome, asked);
  });

  test('gets an error that names the proxy when it connects directly', async () => {
    const body = 'await new Promise((f, g) => net.connect(443, "other.test", f).on("error", g))';
    expect(await run(open, body)).toMatchObject({
      ok: false,
      error: {
        code: 'capability_denied',
        detail: { capability: 'network', asked: 'connect other.test:443' },
      },
    });
  });

  test('cannot mistake a server for the gateway', async () => {
    const outcome = await run(open, 'return (await fetch(HTTP + "/forged")).status');
    expect(outcome).toMatchObject({ ok: true, result: 403, capabilities: { denied: [] } });
  });

  test('can continue after a denial', async () => {
    const outcome = await run(open, 'return get("http://other.test/").catch(({ message }) => message)');
    expect(outcome).toMatchObject({
      ok: true,
      result: 'Skillcell denied: GET http://other.test/ (no network rule covers it)',
      capabilities: { denied: [{ asked: 'GET http://other.test/' }] },
    });
  });

  test('can start programs that use the proxy if it may start programs', async () => {
    const outcome = await run(
      open,
      `const { promisify } = await import('node:util');
       const { execFile } = await import('node:child_process');
       const code = \`fetch('\${HTTP}/child').then((r) => r.text()).then(console.log)\`;
       const { stdout } = await promisify(execFile)(process.execPath, ['-e', code]);
       return stdout.trim();`,
      { limits: { processes: 24 } },
    );
    expect(outcome).toMatchObject({ ok: true, result: 'hello /child' });
  });
});

describe('a Node cell with TLS inspection', () => {
  let open: TestRuntime;
  beforeAll(() => void (open = openAt(', inspect_tls: true')));
  afterAll(() => open.close());

  test('is held to methods and paths of https rules', async () => {
    const network = [{ host: '127.0.0.1', port: servers.ports.https, methods: ['GET'], paths: ['/a*'] }];
    const manifest = { capabilities: { network } };
    const fine = await run(open, 'return get(HTTPS + "/a?b")', manifest);
    expect(fine).toMatchObject({
      ok: true,
      result: 'hello /a?b',
      capabilities: { used: [{ asked: `GET https://127.0.0.1:${servers.ports.https}/a` }] },
    });
    for (const call of ['"/b")', '"/a", { method: "POST" })']) {
      const outcome = await run(open, `return get(HTTPS + ${call}`, manifest);
      expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    }
    expect(seen).not.toContain('POST /a');
  });

  test('sees only a placeholder of a secret, which is sent only to its host', async () => {
    const network = [{ host: '127.0.0.1', port: servers.ports.http, scheme: 'http' }];
    const env_vars = { TEST_GREETER_KEY: { secret: true, hosts: ['127.0.0.1'] } };
    const outcome = await run(
      open,
      'const key = process.env.TEST_GREETER_KEY;\nreturn [key === "key-of-the-" + "test", await get(HTTP + "/s?k=" + key)]',
      { capabilities: { network }, env_vars },
    );
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome.ok && (outcome.result as unknown[])[0]).toBe(false);
    expect(seen).toContain('GET /s?k=key-of-the-test');
  });
});
