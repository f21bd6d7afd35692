/**
 * Python's own http libraries reach declared hosts through the broker, and no others.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePolicy, type Skill } from '../../../../src/index.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy' });
const { runtime, folder, close } = openTestRuntime({ policy });
const seen: string[] = [];
const server: Server = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const moved = { '/api/moved': '/api/here', '/api/out': '/private' }[request.url ?? ''];
    if (moved) return response.writeHead(302, { location: moved }).end();
    const { host: _, ...headers } = request.headers;
    response.writeHead(request.url === '/api/missing' ? 404 : 200, { 'x-answer': 'yes' });
    const body = Buffer.concat(chunks);
    return response.end(JSON.stringify({ headers, body: body.length > 100 ? body.length : body.toString() }));
  });
});
let port = 0;
let skill: Skill;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  const network = [{ host: '127.0.0.1', port, scheme: 'http', methods: ['GET', 'POST'], paths: ['/api/*'] }];
  const source = `
    def execute(params):
        names = {"PORT": params["port"], "URL": "http://127.0.0.1:%d" % params["port"]}
        exec(params["code"], names)
        return names.get("r")
  `;
  const dir = writeSkill(folder, { source, manifest: { capabilities: { network }, execution: ['wasm'] } });
  skill = await runtime.load(dir);
  await runtime.warm(skill);
});

afterAll(async () => {
  server.close();
  await close();
});

async function run(code: string): Promise<unknown> {
  return (await runtime.execute(skill, { code, port })).result;
}

test('urllib reads a response', async () => {
  const code =
    'import urllib.request\na = urllib.request.urlopen(URL + "/api/here?q=1", timeout=5)\nr = [a.status, a.headers["x-answer"], a.read().decode()]';
  const [status, header, body] = (await run(code)) as [number, string, string];
  expect([status, header]).toEqual([200, 'yes']);
  expect(JSON.parse(body)).toMatchObject({ headers: { 'user-agent': 'Python-urllib/3.14' } });
  expect(seen.at(-1)).toBe('GET /api/here?q=1');
});

test('urllib sends small and large bodies', async () => {
  const code =
    'import json, urllib.request\nr = [json.load(urllib.request.urlopen(URL + "/api/x", data=b))["body"] for b in (b"hello", b"x" * 2000000)]';
  expect(await run(code)).toEqual(['hello', 2_000_000]);
});

test('http.client sends chunks and reuses a connection', async () => {
  const code = `
import http.client, json
c = http.client.HTTPConnection("127.0.0.1", PORT)
r = []
for part in (b"a", b"bc"):
    c.request("POST", "/api/x", body=iter([part, b"!"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    r.append(json.load(c.getresponse())["body"])
`;
  expect(await run(code)).toEqual(['a!', 'bc!']);
});

test('a redirect within the rules is followed, and an error status raises', async () => {
  const code =
    'import urllib.request, urllib.error\nr = [urllib.request.urlopen(URL + "/api/moved").geturl()[-9:]]\ntry: urllib.request.urlopen(URL + "/api/missing")\nexcept urllib.error.HTTPError as e: r.append(e.code)';
  expect(await run(code)).toEqual(['/api/here', 404]);
});

describe('denials', () => {
  test.each([
    ['another path', 'import urllib.request\nurllib.request.urlopen(URL + "/private")'],
    ['a redirect out of the rules', 'import urllib.request\nurllib.request.urlopen(URL + "/api/out")'],
    [
      'another method',
      'import http.client\nc = http.client.HTTPConnection("127.0.0.1", PORT)\nc.request("DELETE", "/api/x")\nc.getresponse()',
    ],
    ['another port', 'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:9/api/x")'],
    ['another host over TLS', 'import urllib.request\nurllib.request.urlopen("https://skill.invalid/")'],
    ['a datagram', 'import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))'],
    ['listening', 'import socket\nsocket.socket().bind(("127.0.0.1", 0))'],
    ['a socket of the C library', 'import _socket\n_socket.socket().connect(("127.0.0.1", PORT))'],
    ['resolving a name', 'import socket\nsocket.gethostbyname("skill.invalid")'],
  ])('%s is denied and recorded', async (_, code) => {
    const outcome = await runtime.execute(skill, { code, port }, { reject: false });
    expect(outcome, JSON.stringify(outcome)).toMatchObject({
      ok: false,
      error: { code: 'capability_denied', detail: { capability: 'network' } },
    });
  });
});

test('the package requests works unmodified, and is denied like the others', async () => {
  const network = [{ host: '127.0.0.1', port, scheme: 'http', paths: ['/api/*'] }];
  const source = `
    import requests
    def execute(params):
        if "url" in params:
            return requests.get(params["url"]).status_code
        base = "http://127.0.0.1:${port}/api"
        sent = requests.post(base + "/x", json={"a": 1}, timeout=5)
        return [sent.json()["body"], requests.get(base + "/moved").url[-9:], requests.get(base + "/missing").status_code]
  `;
  const manifest = { capabilities: { network }, requirements: ['requests'], execution: ['wasm'] };
  const installed = await runtime.install(writeSkill(folder, { source, manifest }));
  expect((await runtime.execute(installed, {})).result).toEqual(['{"a": 1}', '/api/here', 404]);
  for (const url of [`http://127.0.0.1:${port}/private`, 'https://skill.invalid/']) {
    const outcome = await runtime.execute(installed, { url }, { reject: false });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'capability_denied', detail: { capability: 'network', asked: `GET ${url}` } },
    });
  }
});

test('protocols other than http are refused', async () => {
  const before = seen.length;
  const code =
    'import socket\ns = socket.create_connection(("127.0.0.1", PORT))\ns.sendall(b"HELO")\ns.recv(1)';
  const outcome = await runtime.execute(skill, { code, port }, { reject: false });
  expect(outcome).toMatchObject({
    ok: false,
    error: { code: 'capability_denied', detail: { asked: `connect 127.0.0.1:${port}` } },
  });
  expect(seen.length).toBe(before);
});

test('a module body that makes requests repeats them in every call', async () => {
  const network = [{ host: '127.0.0.1', port, scheme: 'http' }];
  const source = `
    import urllib.request
    STATUS = urllib.request.urlopen("http://127.0.0.1:${port}/body").status
    def execute(params):
        return STATUS
  `;
  const dir = writeSkill(folder, { source, manifest: { capabilities: { network }, execution: ['wasm'] } });
  for (let call = 0; call < 2; call++) expect((await runtime.execute(dir, {})).result).toBe(200);
  expect(seen.filter((request) => request === 'GET /body')).toHaveLength(2);
});
