import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../../src/outcome.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime, type TestRuntime } from '../../test-runtime.ts';
import { loopbackPolicy, TwoServers } from '../two-servers.ts';

const servers = new TwoServers();
const { authority, seen } = servers;

beforeAll(() => servers.listen());
afterAll(() => servers.close());

/** Writes a skill with this body; `HTTP` and `HTTPS` are the addresses of the two servers. */
function skillThat(open: TestRuntime, body: string, manifest: Record<string, unknown> = {}): string {
  const lines = body
    .trim()
    .split('\n')
    .map((line) => `    ${line.trim()}`);
  const source = [
    'import http.client, os, socket, ssl, urllib.request',
    `HTTP, HTTPS = "127.0.0.1:${servers.ports.http}", "127.0.0.1:${servers.ports.https}"`,
    'def get(url, **more):',
    '    return urllib.request.urlopen(urllib.request.Request(url, **more), timeout=10).read().decode()',
    'def execute(params):',
    ...lines,
  ];
  return writeSkill(open.folder, {
    source: source.join('\n'),
    manifest: { execution: ['subprocess'], capabilities: { network: servers.rules }, ...manifest },
  });
}

async function run(
  open: TestRuntime,
  body: string,
  manifest: Record<string, unknown> = {},
): Promise<Outcome> {
  return open.runtime.execute(skillThat(open, body, manifest), {}, { reject: false });
}

const EROFS = 30;
const KINDS = [
  ['cold', { size: 0 }],
  ['pool', { size: 1 }],
  ['zygote', { size: 1, ready: 'zygote' }],
] as const;

describe.each(KINDS)('a cell that was started %s', (start, pool) => {
  let open: TestRuntime;
  beforeAll(() => {
    open = openTestRuntime({ policy: loopbackPolicy(), pool, network: { ca: [authority.certificate] } });
  });
  afterAll(() => open.close());

  test("reaches declared hosts with Python's own clients, and leaves no files", async () => {
    const dir = skillThat(
      open,
      `
      plain = http.client.HTTPConnection(HTTP)
      plain.request("GET", "/client")
      secure = http.client.HTTPSConnection(HTTPS)
      secure.request("GET", "/secure")
      return [get("http://" + HTTP + "/urllib"), get("https://" + HTTPS + "/tls"), plain.getresponse().read().decode(), secure.getresponse().read().decode()]
      `,
    );
    const skill = await open.runtime.load(dir);
    await open.runtime.warm(skill);
    const outcome = await open.runtime.execute(skill, {}, { reject: false });
    expect(outcome).toMatchObject({ ok: true, execution: { mode: 'subprocess', start } });
    if (!outcome.ok) return;
    expect(outcome.result).toEqual(['hello /urllib', 'hello /tls', 'hello /client', 'hello /secure']);
    expect(outcome.capabilities.used.map(({ asked }) => asked)).toEqual([
      `GET http://127.0.0.1:${servers.ports.http}/client`,
      `CONNECT https://127.0.0.1:${servers.ports.https}`,
      `GET http://127.0.0.1:${servers.ports.http}/urllib`,
    ]);
  });

  test('cannot write to the folder of its gateway socket', async () => {
    const outcome = await run(
      open,
      `
      import ctypes
      libc = ctypes.CDLL(None, use_errno=True)
      return [libc.open(b"/run/gateway/x", os.O_CREAT | os.O_WRONLY, 0o600), ctypes.get_errno()]
      `,
    );
    expect(outcome).toMatchObject({ ok: true, result: [-1, EROFS] });
  });

  test.each([
    ['another host', 'get("http://other.test/x?key=1")', 'GET http://other.test/x'],
    ['another host over TLS', 'get("https://other.test/x")', 'CONNECT https://other.test'],
    ['another method', 'get("http://" + HTTP + "/x", method="DELETE")', 'DELETE http://HTTP/x'],
    ['another port', 'get("http://127.0.0.1:9/x")', 'GET http://127.0.0.1:9/x'],
    ['a redirect to another host', 'get("http://" + HTTP + "/out")', 'GET http://other.test/stolen'],
    ['a direct connection', 'socket.create_connection(("other.test", 443))', 'CONNECT https://other.test'],
  ])('is denied %s', async (_, expression, asked) => {
    const outcome = await run(open, `return ${expression}`);
    servers.expectDenied(outcome, asked);
  });
});

describe('a native cell', () => {
  let open: TestRuntime;
  beforeAll(() => {
    open = openTestRuntime({
      policy: loopbackPolicy(),
      pool: { size: 0 },
      network: { ca: [authority.certificate] },
    });
  });
  afterAll(() => open.close());

  test('raises a denial as such, and can continue after it', async () => {
    const outcome = await run(
      open,
      `
      try: socket.create_connection(("other.test", 80))
      except PermissionError as error: return str(error)
      `,
    );
    expect(outcome).toMatchObject({
      ok: true,
      capabilities: { denied: [{ asked: 'CONNECT http://other.test' }] },
    });
    expect(outcome.ok && outcome.result).toContain('Skillcell denied: CONNECT http://other.test');
  });

  test('cannot mistake a denial for a server response, or a server for the gateway', async () => {
    const denied = await run(
      open,
      `
      proxy = http.client.HTTPConnection("127.0.0.1", 3128)
      proxy.request("GET", "http://other.test/x")
      return proxy.getresponse().status
      `,
    );
    expect(denied).toMatchObject({
      ok: false,
      error: { code: 'capability_denied', detail: { asked: 'GET http://other.test/x' } },
    });
    const forged = await run(
      open,
      `
      there = http.client.HTTPConnection(HTTP)
      there.request("GET", "/forged")
      return there.getresponse().status
      `,
    );
    expect(forged).toMatchObject({ ok: true, result: 403, capabilities: { denied: [] } });
  });

  test('has no other network: code that bypasses the harness finds none', async () => {
    const outcome = await run(
      open,
      `
      import _socket, ctypes
      libc = ctypes.CDLL(None, use_errno=True)
      there = libc.socket(2, 1, 0)
      address = (ctypes.c_ubyte * 16)(2, 0, 0, 80, 93, 184, 215, 14)
      return [libc.connect(there, address, 16), ctypes.get_errno()]
      `,
    );
    expect(outcome).toMatchObject({ ok: true, result: [-1, 101] });
  });

  test('can start programs that use the proxy if it may start programs', async () => {
    const outcome = await run(
      open,
      `
      import subprocess, sys
      code = "import urllib.request as u; print(u.urlopen('http://" + HTTP + "/child').read().decode())"
      return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
      `,
      { limits: { processes: 8 } },
    );
    expect(outcome).toMatchObject({ ok: true, result: 'hello /child' });
  });

  test('can use its proxy under the strictest seccomp filter', async () => {
    const network = [{ host: '127.0.0.1', port: servers.ports.http, scheme: 'http' }];
    const outcome = await run(open, 'return get("http://" + HTTP + "/strict")', {
      capabilities: { network, syscalls: 'strict' },
    });
    expect(outcome).toMatchObject({ ok: true, result: 'hello /strict' });
  });

  test('leaves no sockets after its calls', async () => {
    await run(open, 'return get("http://" + HTTP + "/last")');
    const folder = join(open.runtime.home, 'run');
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });

  test('is refused if it declares https methods without TLS inspection', async () => {
    for (const rule of [{ methods: ['GET'] }, { paths: ['/a'] }, { scheme: 'wss' }]) {
      const network = [{ host: '127.0.0.1', port: servers.ports.https, ...rule }];
      expect(await run(open, 'return 1', { capabilities: { network } })).toMatchObject({
        ok: false,
        error: { code: 'unenforceable', detail: { fields: ['network.inside_tls'] } },
      });
    }
  });
});

describe('a native cell with TLS inspection', () => {
  let open: TestRuntime;
  beforeAll(() => {
    const network = { ca: [authority.certificate] };
    open = openTestRuntime({ policy: loopbackPolicy(', inspect_tls: true'), pool: { size: 0 }, network });
  });
  afterAll(() => open.close());

  test('is held to methods and paths of https rules, and trusts only the gateway', async () => {
    const network = [{ host: '127.0.0.1', port: servers.ports.https, methods: ['GET'], paths: ['/a*'] }];
    const manifest = { capabilities: { network } };
    const fine = await run(open, 'return get("https://" + HTTPS + "/a?b")', manifest);
    expect(fine).toMatchObject({
      ok: true,
      result: 'hello /a?b',
      capabilities: { used: [{ asked: `GET https://127.0.0.1:${servers.ports.https}/a` }] },
    });
    for (const call of ['/b")', '/a", method="POST")']) {
      const outcome = await run(open, `return get("https://" + HTTPS + "${call}`, manifest);
      expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    }
    const roots = await run(open, 'return open(os.environ["SSL_CERT_FILE"]).read()', manifest);
    expect(roots.ok && String(roots.result).match(/BEGIN/g)).toHaveLength(1);
    expect(seen).not.toContain('POST /a');
  });
});
