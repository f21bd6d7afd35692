import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import { connect, createServer as createRawServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../../../src/broker/gateway/tls/authority.ts';
import type { NetworkRule } from '../../../../src/manifest/manifest.ts';
import { NativeClient, speak } from '../native-client.ts';
import { secureServer } from './secure-server.ts';

const authority = createAuthority();
const ca = [authority.certificate];
const seen: string[] = [];
let server: Server;
let inner: HttpServer;
let port = 0;

beforeAll(async () => {
  ({ server, inner } = secureServer(authority, '127.0.0.1', (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('secret');
  }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  inner.closeAllConnections();
  server.close();
});

const rules = (more: Partial<NetworkRule> = {}): NetworkRule[] => [{ host: '127.0.0.1', port, ...more }];
const address = (): string => `127.0.0.1:${port}`;

async function secured(client: NativeClient, options: object): Promise<TLSSocket> {
  const socket = await client.secure(address(), { host: '127.0.0.1', ...options });
  if (!(socket instanceof TLSSocket)) throw socket;
  return socket;
}

describe('TLS that is forwarded uninspected', () => {
  it('is end-to-end between the program and the server', async () => {
    using client = new NativeClient(rules(), { ca });
    const socket = await secured(client, { ca });
    const reply = await speak(socket, ['GET /a HTTP/1.1', `host: ${address()}`]);
    expect(reply).toMatch(/^HTTP\/1.1 200 [^]*secret/);
    expect(client.gateway.used).toEqual([
      { capability: 'network', asked: `CONNECT https://${address()}`, declared: 'granted' },
    ]);
  });

  it('cannot name another server than the tunnel', async () => {
    using client = new NativeClient(rules(), { ca });
    const before = seen.length;
    expect(await client.secure(address(), { ca, servername: 'evil.test' })).toBeInstanceOf(Error);
    expect(client.gateway.denied).toMatchObject([
      { asked: `CONNECT https://evil.test:${port}`, declared: 'the tunnel is for 127.0.0.1' },
    ]);
    expect([seen.length, client.gateway.used]).toEqual([before, []]);
  });

  it('cannot be replaced by plain HTTP, nor plain HTTP by TLS', async () => {
    using secure = new NativeClient(rules(), { ca });
    expect(await speak(await secure.openTunnel(address()), ['GET / HTTP/1.1', `host: ${address()}`])).toBe(
      '',
    );
    expect(secure.gateway.denied).toMatchObject([{ declared: 'no network rule covers it without TLS' }]);
    using plain = new NativeClient(rules({ scheme: 'http' }), { ca });
    expect(await plain.secure(address(), { ca })).toBeInstanceOf(Error);
    expect(plain.gateway.denied[0]?.declared).toContain('TLS');
  });

  it('is not required of a connection that sends nothing', async () => {
    using client = new NativeClient(rules(), { ca });
    const socket = await client.openTunnel(address());
    socket.end();
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
    expect([client.gateway.denied, client.gateway.used]).toEqual([[], []]);
  });

  it('uses the trusted roots of the host', () => {
    using client = new NativeClient(rules());
    const roots = readFileSync(join(client.gateway.folder, 'roots.pem'), 'utf8');
    expect(roots.match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(50);
  });
});

describe('TLS that is terminated in the gateway', () => {
  const inspected = (more: Partial<NetworkRule>, options = { ca }): NativeClient =>
    new NativeClient(rules(more), options, { inspectTls: true });
  const rootsOf = (client: NativeClient): string[] => [
    readFileSync(join(client.gateway.folder, 'roots.pem'), 'utf8'),
  ];

  it('has its requests and the certificate of the server checked', async () => {
    using client = inspected({ methods: ['GET'], paths: ['/a*'] });
    const roots = rootsOf(client);
    expect(roots[0]?.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
    const ask = async (line: string, host = address()): Promise<string> =>
      speak(await secured(client, { ca: roots }), [line, `host: ${host}`]);
    expect(await ask('GET /a?x HTTP/1.1')).toMatch(/^HTTP\/1.1 200 [^]*secret/);
    expect(await ask('POST /a HTTP/1.1')).toMatch(/^HTTP\/1.1 403 /);
    expect(await ask('GET /b HTTP/1.1')).toMatch(/^HTTP\/1.1 403 /);
    expect(await ask('GET /a HTTP/1.1', 'fronted.test')).toMatch(/^HTTP\/1.1 403 /);
    expect(client.gateway.used.map(({ asked }) => asked)).toEqual([`GET https://${address()}/a`]);
    expect(client.gateway.denied.map(({ asked }) => asked)).toEqual([
      `POST https://${address()}/a`,
      `GET https://${address()}/b`,
      `GET https://${address()}/a`,
    ]);
    expect(seen.at(-1)).toBe('GET /a?x');
    using distrusting = inspected({}, { ca: [createAuthority().certificate] });
    const socket = await secured(distrusting, { ca: rootsOf(distrusting) });
    const reply = await speak(socket, ['GET /never HTTP/1.1', `host: ${address()}`]);
    expect(reply).toMatch(/^HTTP\/1.1 502 [^]*skillcell-code: cert/);
    expect(seen).not.toContain('GET /never');
  });

  it('is trusted only by its own cell and cannot name another server', async () => {
    using client = inspected({});
    using other = inspected({});
    expect(await client.secure(address(), { ca: rootsOf(other) })).toBeInstanceOf(Error);
    const socket = await client.secure(address(), {
      ca: rootsOf(client),
      servername: 'evil.test',
      checkServerIdentity: () => undefined,
    });
    if (socket instanceof TLSSocket)
      await speak(socket, ['GET / HTTP/1.1', `host: ${address()}`]).catch(() => '');
    expect(client.gateway.denied).toMatchObject([{ asked: `CONNECT https://evil.test:${port}` }]);
  });

  it('works without a tunnel: the gateway speaks TLS for an absolute https URL', async () => {
    using client = new NativeClient(rules({ methods: ['GET'] }), { ca });
    expect((await client.ask(`https://${address()}/whole`)).body).toBe('secret');
    expect((await client.ask(`https://${address()}/whole`, { method: 'PUT' })).status).toBe(403);
  });
});

describe('host names', () => {
  it('are enforced in TLS, in certificates and for names with public addresses', async () => {
    const program = join(import.meta.dirname, 'public-names.ts');
    // A separate network namespace with a public address: no packet leaves it.
    const own = ['--user', '--map-root-user', '--net'];
    const { stdout } = await promisify(execFile)('unshare', [...own, process.execPath, program], {
      timeout: 200_000,
    });
    expect(JSON.parse(stdout)).toEqual({
      sameName: 'HTTP/1.1 200 OK',
      upperCase: 'HTTP/1.1 200 OK',
      otherName: 'ended',
      noName: 'ended',
      inspected: 'HTTP/1.1 200 OK',
      certificateOfAnother: 'HTTP/1.1 502 Bad Gateway',
      nextAddress: 'HTTP/1.1 200 OK',
      plainNextAddress: 200,
      plainAsk: 200,
      subdomain: 403,
      denied: [
        'CONNECT https://evil.test: the tunnel is for api.test',
        'CONNECT https://api.test: its TLS names no server',
        'GET https://deep.api.test/: no network rule covers it',
      ],
      lookups: ['api.test'],
    });
  });
});

describe('the built-in fetch of Node', () => {
  it('reaches the network through the variables of a cell', async () => {
    const plain = createPlainServer((_, response) => response.end('plain')).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port: plainPort } = plain.address() as AddressInfo;
    const network: NetworkRule[] = [{ host: '127.0.0.1', port: plainPort, scheme: 'http' }, ...rules()];
    using client = new NativeClient(network, { ca });
    // As the harness does in a cell.
    const forwarder = createRawServer((socket) => {
      const there = connect(client.socketPath);
      socket.pipe(there).pipe(socket);
      socket.on('error', () => there.destroy());
      there.on('error', () => socket.destroy());
    }).listen(0, '127.0.0.1');
    await once(forwarder, 'listening');
    const proxy = `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}`;
    const program = `
      const text = async (url) => (await fetch(url)).text().catch(String);
      console.log(JSON.stringify(await Promise.all([
        text('http://127.0.0.1:${plainPort}/'), text('https://${address()}/'), text('http://other.test/').catch(String),
      ])));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env: {
        HTTP_PROXY: proxy,
        HTTPS_PROXY: proxy,
        NODE_USE_ENV_PROXY: '1',
        NODE_EXTRA_CA_CERTS: join(client.gateway.folder, 'roots.pem'),
      },
    });
    const [first, second, third] = JSON.parse(stdout) as string[];
    expect([first, second]).toEqual(['plain', 'secret']);
    expect(third).toMatch(/denied|fetch failed/);
    expect(client.gateway.denied).toMatchObject([{ asked: expect.stringContaining('http://other.test') }]);
    for (const server of [plain, forwarder]) server.close();
    plain.closeAllConnections();
  });
});
