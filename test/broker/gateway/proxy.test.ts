import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { Folders } from '../support.ts';
import { TestServer } from './http-server.ts';
import { NativeClient, speak } from './native-client.ts';

const fine = (): Promise<TestServer> => TestServer.start((_, response) => response.end('fine'));
const rulesFor = (server: { port: number }, more: Partial<NetworkRule> = {}): NetworkRule[] => [
  { host: '127.0.0.1', port: server.port, scheme: 'http', ...more },
];

describe('a proxy request with an absolute URL', () => {
  it('arrives as the client sent it, without the proxy headers', async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(
        201,
        'Made',
        [
          ['X-Two', 'a'],
          ['X-Two', 'b'],
          ['Keep-Alive', 'timeout=9'],
        ].flat(),
      );
      response.end('made');
    });
    using client = new NativeClient(rulesFor(server));
    const reply = await client.ask(`http://${server.authority}/a?b=c`, {
      method: 'POST',
      headers: {
        'x-mine': 'one',
        'proxy-connection': 'keep-alive',
        'proxy-authorization': 'Basic x',
        connection: 'close, x-hop',
        'x-hop': 'not passed on',
        te: 'trailers',
      },
      body: Buffer.from('sent'),
    });
    expect([reply.status, reply.body, reply.headers['x-two']]).toEqual([201, 'made', 'a, b']);
    expect(reply.headers['keep-alive']).toBeUndefined();
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'POST', url: '/a?b=c', body: 'sent' });
    const names = seen?.headers.map(([name]) => name.toLowerCase());
    expect(names?.toSorted()).toEqual(['connection', 'content-length', 'host', 'x-mine']);
    expect(client.gateway.used).toEqual([
      { capability: 'network', asked: `POST http://${server.authority}/a`, declared: 'granted' },
    ]);
  });

  it.each([
    ['another port', 'http://127.0.0.1:1/', 'GET', 'GET http://127.0.0.1:1/'],
    ['another host', 'http://other.test/x?key=hidden', 'GET', 'GET http://other.test/x'],
    ['another method', 'SERVER/api/', 'DELETE', 'DELETE SERVER/api/'],
    ['another path', 'SERVER/private', 'GET', 'GET SERVER/private'],
    ['a path that leads out', 'SERVER/api/%2e%2e/private', 'GET', 'GET SERVER/private'],
  ])('is denied with a readable message: %s', async (...row) => {
    const [, url, method, asked] = row;
    await using server = await fine();
    const origin = `http://${server.authority}`;
    using client = new NativeClient(rulesFor(server, { methods: ['GET'], paths: ['/api/*'] }));
    const reply = await client.ask(url.replace('SERVER', origin), { method });
    const event = { capability: 'network', asked: asked.replace('SERVER', origin) };
    expect(reply.status).toBe(403);
    expect(reply.headers).toMatchObject({ 'skillcell-code': 'denied', 'skillcell-asked': event.asked });
    expect(reply.body).toContain(`Skillcell denied: ${event.asked}`);
    expect(client.gateway.denied).toMatchObject([event]);
    expect(client.gateway.used).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  it.each([
    ['decimal', 'http://2130706433/'],
    ['octal', 'http://0177.0.0.1/'],
    ['hexadecimal', 'http://0x7f.1/'],
    ['a final dot', 'http://127.0.0.1./'],
    ['user-info', 'http://user:pw@127.0.0.1/'],
    ['percent-encoded', 'http://%31%32%37.0.0.1/'],
    ['mapped IPv6', 'http://[::ffff:127.0.0.1]/'],
    ['empty labels', 'http://a..b.test/'],
    ['no scheme', '/x'],
    ['another scheme', 'ftp://127.0.0.1/'],
    ['a fragment', 'http://127.0.0.1/x#y'],
  ])('is refused for another spelling of the address: %s', async (_, target) => {
    const hosts = ['127.0.0.1', '*.b.test', '*.0.0.1'];
    using client = new NativeClient(hosts.map((host) => ({ host, scheme: 'http' })));
    expect(await client.raw(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is denied if the Host header differs or is repeated', async () => {
    await using server = await fine();
    using client = new NativeClient(rulesFor(server));
    const target = `GET http://${server.authority}/ HTTP/1.1\r\n`;
    const other = await client.raw(`${target}Host: evil.test\r\n\r\n`);
    expect(other).toMatch(/^HTTP\/1.1 403 /);
    expect(client.gateway.denied[0]?.declared).toContain('evil.test');
    const twice = await client.raw(`${target}Host: ${server.authority}\r\nHost: evil.test\r\n\r\n`);
    expect(twice).toMatch(/^HTTP\/1.1 40[03] /);
    expect(await client.raw(`${target}\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    expect(await client.raw(`GET http://${server.authority}/x HTTP/1.1\r\nHost: \x9b2Jy\r\n\r\n`)).toMatch(
      / 403 /,
    );
    expect(client.gateway.denied.at(-1)?.declared).toBe(String.raw`its Host header says "\u009b2Jy"`);
    expect(server.seen).toEqual([]);
  });

  it.each([
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 40\r\n\r\nGET /'],
    ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /private'],
    ['an odd encoding', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['a folded header', 'X: a\r\n Host: evil.test\r\n\r\n'],
    ['a header without a colon', 'Host evil.test\r\n\r\n'],
    ['a line feed in a value', 'X: a\nHost: evil.test\r\n\r\n'],
    ['a NUL in a value', 'X: a\0b\r\n\r\n'],
  ])('is refused if servers could read it in two ways: %s', async (_, rest) => {
    await using server = await fine();
    using client = new NativeClient(rulesFor(server));
    const head = `POST http://${server.authority}/ HTTP/1.1\r\nHost: ${server.authority}\r\n`;
    expect(await client.raw(head + rest)).toMatch(/^HTTP\/1.1 40[03] /);
    expect(server.seen).toEqual([]);
  });

  it('is not redirected: the client may follow the redirect, and that request is checked', async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(302, { location: 'http://other.test/' }).end();
    });
    using client = new NativeClient(rulesFor(server));
    const reply = await client.ask(`http://${server.authority}/`);
    expect([reply.status, reply.headers.location]).toEqual([302, 'http://other.test/']);
    expect((await client.ask('http://other.test/')).status).toBe(403);
    expect(server.seen).toHaveLength(1);
  });

  it('reports what is wrong with a server', async () => {
    const gone = await fine();
    const { authority, port } = gone;
    await gone[Symbol.asyncDispose]();
    await using silent = await TestServer.startRaw(() => undefined);
    const rules = [
      ...rulesFor({ port }),
      ...rulesFor(silent),
      { host: 'no.test', scheme: 'http' } as NetworkRule,
    ];
    const lookup = async (): Promise<string[]> => Promise.reject(new Error('no such name'));
    using client = new NativeClient(rules, { timeoutMs: 100, lookup });
    const status = async (url: string): Promise<[number, unknown]> => {
      const reply = await client.ask(url);
      return [reply.status, reply.headers['skillcell-code']];
    };
    expect(await status(`http://${authority}/`)).toEqual([502, 'connrefused']);
    expect(await status(`http://${silent.authority}/`)).toEqual([504, 'timedout']);
    expect(await status('http://no.test/')).toEqual([502, 'dns']);
  });
});

describe('a host name', () => {
  it('is resolved once per call, and each of its addresses is checked', async () => {
    await using server = await fine();
    const answers = [['10.0.0.1'], ['127.0.0.1']];
    let lookups = 0;
    const lookup = async (): Promise<string[]> => answers[lookups++] ?? [];
    using client = new NativeClient(rulesFor(server, { host: 'name.test' }), { lookup });
    for (let round = 0; round < 3; round++)
      expect((await client.ask(`http://name.test:${server.port}/`)).status).toBe(403);
    expect(await client.tunnel(`name.test:${server.port}`)).toBe(403);
    expect(lookups).toBe(1);
    expect(client.gateway.denied[0]).toMatchObject({ declared: '10.0.0.1 is no public address' });
    expect(server.sockets.size).toBe(0);
  });

  it('counts towards the limit on names per call', async () => {
    const lookup = async (): Promise<string[]> => ['10.0.0.1'];
    using client = new NativeClient([{ host: '*.test', scheme: 'http' }], { lookup, limits: { names: 2 } });
    const statuses: number[] = [];
    for (const name of ['a', 'b', 'c', 'a']) statuses.push((await client.ask(`http://${name}.test/`)).status);
    expect(statuses).toEqual([403, 403, 429, 403]);
  });
});

describe('the proxy', () => {
  it('limits the bytes of a request, a response and a call, and the number of requests', async () => {
    await using server = await TestServer.start((_, response) => response.end(Buffer.alloc(3000)));
    const url = `http://${server.authority}/`;
    using client = new NativeClient(rulesFor(server), {
      limits: { requestBytes: 1000, responseBytes: 5000, totalBytes: 8000, requests: 5 },
    });
    expect((await client.ask(url, { method: 'POST', body: Buffer.alloc(1001) })).status).toBe(413);
    expect((await client.ask(url)).body).toHaveLength(3000);
    expect((await client.ask(url)).body).toHaveLength(3000);
    // The third exceeds the byte limit of the call and is cut off.
    await expect(client.ask(url)).rejects.toThrow(/aborted|hang up/);
    expect((await client.ask(url)).status).toBe(413);
    expect((await client.ask(url)).status).toBe(429);
    using small = new NativeClient(rulesFor(server), { limits: { responseBytes: 2999 } });
    await expect(small.ask(url)).rejects.toThrow(/aborted|hang up/);
  });

  it('also counts denied requests towards the limit', async () => {
    await using server = await fine();
    using client = new NativeClient(rulesFor(server), { limits: { requests: 6 } });
    const statuses: number[] = [];
    for (let at = 0; at < 5; at++) statuses.push((await client.ask(`http://invented-${at}.test/`)).status);
    statuses.push((await client.ask(`http://${server.authority}/`)).status);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 200]);
    expect((await client.ask(`http://${server.authority}/`)).status).toBe(429);
    expect((await client.ask('http://another.test/')).status).toBe(429);
  });

  it('limits the bytes that it holds in the memory of the host', async () => {
    await using server = await fine();
    using client = new NativeClient(rulesFor(server), { limits: { heldBytes: 1500 } });
    const url = `http://${server.authority}/`;
    const half = connect(client.socketPath);
    half.write(`POST ${url} HTTP/1.1\r\nHost: ${server.authority}\r\nContent-Length: 1001\r\n\r\n`);
    half.write(Buffer.alloc(1000));
    await sleep(50);
    expect((await client.ask(url, { method: 'POST', body: Buffer.alloc(1000) })).status).toBe(429);
    expect((await client.ask(url, { method: 'POST', body: Buffer.alloc(400) })).status).toBe(200);
    half.write('x');
    await once(half, 'data');
    expect((await client.ask(url, { method: 'POST', body: Buffer.alloc(1000) })).status).toBe(200);
    half.destroy();
  });

  it('does not wait for the body of a denied request', async () => {
    using client = new NativeClient([{ host: 'a.test', scheme: 'http' }]);
    const head = 'POST http://b.test/ HTTP/1.1\r\nHost: b.test\r\nContent-Length: 1000000\r\n\r\n';
    expect(await client.raw(head)).toMatch(/^HTTP\/1.1 403 /);
  });

  it('limits the requests that are open at once', async () => {
    await using silent = await TestServer.startRaw(() => undefined);
    using client = new NativeClient(rulesFor(silent), { limits: { open: 2 } });
    const url = `http://${silent.authority}/`;
    const waiting = [client.ask(url), client.ask(url)].map((reply) => reply.catch(() => undefined));
    while (silent.sockets.size < 2) await sleep(5);
    expect((await client.ask(url)).status).toBe(429);
    client.gateway.close();
    await Promise.all(waiting);
  });

  it('times out a client that is slow to send its headers', async () => {
    using client = new NativeClient([{ host: 'a.test' }], { timeoutMs: 200 });
    const socket = connect(client.socketPath);
    socket.write('GET http://a.test/ HTTP/1.1\r\n');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1.1 408 /);
    socket.destroy();
  });
});

describe('the socket of the proxy', () => {
  it('is accessible only to its owner, and its path may be longer than a socket path', () => {
    using client = new NativeClient([{ host: 'a.test' }], { folder: `${'deep/'.repeat(40)}gateway` });
    expect(client.socketPath.length).toBeGreaterThan(200);
    expect(statSync(client.socketPath).mode & 0o777).toBe(0o600);
    expect(statSync(client.gateway.folder).mode & 0o777).toBe(0o711);
  });
});

describe('closing a gateway', () => {
  it('removes its own socket, and no file of that name elsewhere', () => {
    using folders = new Folders();
    const precious = join(folders.work, 'socket');
    writeFileSync(precious, 'mine');
    using client = new NativeClient([{ host: 'a.test' }]);
    // Descriptors of another folder, whose numbers the gateway must not confuse with its own.
    const handles = Array.from({ length: 20 }, () => openSync(folders.work, constants.O_DIRECTORY));
    client.gateway.close();
    client.gateway.close();
    for (const handle of handles) closeSync(handle);
    expect(readFileSync(precious, 'utf8')).toBe('mine');
    expect(existsSync(client.gateway.folder)).toBe(false);
  });
});

describe('connections', () => {
  it('to a server are reused for the next request of the call', async () => {
    await using server = await fine();
    using client = new NativeClient(rulesFor(server));
    for (let round = 0; round < 5; round++)
      expect((await client.ask(`http://${server.authority}/`)).body).toBe('fine');
    expect(server.seen).toHaveLength(5);
    expect(server.sockets.size).toBe(1);
  });

  it('that break while a request is read do not repeat it, unless it is idempotent', async () => {
    await using server = await TestServer.start((request, response) => {
      if (request.url === '/warm') response.end('fine');
      else request.socket.resetAndDestroy();
    });
    using client = new NativeClient(rulesFor(server));
    const made = async (method: string): Promise<number> => {
      await client.ask(`http://${server.authority}/warm`);
      expect((await client.ask(`http://${server.authority}/break`, { method })).status).toBe(502);
      return server.seen.filter((one) => one.method === method && one.url === '/break').length;
    };
    expect(await made('POST')).toBe(1);
    expect(await made('PATCH')).toBe(1);
    expect(await made('GET')).toBe(2);
  });

  it.each(['POST', 'GET'])('that a server closed in the meantime do not break a %s', async (method) => {
    await using server = await TestServer.start((request, response) => {
      response.end('fine');
      // Announces keep-alive, but closes the connection.
      setImmediate(() => request.socket.destroy());
    });
    using client = new NativeClient(rulesFor(server));
    for (let round = 0; round < 20; round++)
      expect((await client.ask(`http://${server.authority}/`, { method })).status).toBe(200);
  });

  it('end with the gateway and leave nothing behind', async () => {
    await using open = await TestServer.start((_, response) => void response.write('x'));
    using client = new NativeClient(rulesFor(open));
    const reading = client.ask(`http://${open.authority}/`).catch((error: Error) => error.message);
    const tunnel = await client.openTunnel(open.authority);
    while (open.sockets.size === 0) await sleep(5);
    client.gateway.close();
    expect(await reading).toMatch(/aborted|hang up/);
    if (!tunnel.closed) await once(tunnel, 'close');
    for (const socket of open.sockets) if (!socket.closed) await once(socket, 'close');
    expect(existsSync(client.gateway.folder)).toBe(false);
  });
});

describe('plain HTTP in a tunnel', () => {
  it('is read and checked like any other request', async () => {
    await using server = await fine();
    using client = new NativeClient(rulesFor(server, { methods: ['GET'] }));
    const host = `host: ${server.authority}`;
    const get = await speak(await client.openTunnel(server.authority), ['GET /a HTTP/1.1', host]);
    expect(get).toMatch(/^HTTP\/1.1 200 [^]*fine$/);
    const post = await speak(await client.openTunnel(server.authority), ['POST /a HTTP/1.1', host]);
    expect(post).toMatch(/^HTTP\/1.1 403 /);
    const other = await speak(await client.openTunnel(server.authority), [
      'GET / HTTP/1.1',
      'host: evil.test',
    ]);
    expect(other).toMatch(/^HTTP\/1.1 403 /);
    const nested = await speak(await client.openTunnel(server.authority), [
      `CONNECT ${server.authority} HTTP/1.1`,
      host,
    ]);
    expect(nested).toMatch(/^HTTP\/1.1 400 /);
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /a']);
  });

  it.each([
    ['another host', 'other.test:80', 403],
    ['another port', '127.0.0.1:1', 403],
    ['no port', '127.0.0.1', 400],
    ['a whole address', 'http://127.0.0.1:80/', 400],
    ['another spelling', '2130706433:80', 400],
    ['user-info', 'a@127.0.0.1:80', 400],
    ['a port that is none', '127.0.0.1:99999', 400],
  ])('is refused for a tunnel to %s', async (_, authority, status) => {
    using client = new NativeClient([{ host: '127.0.0.1', scheme: 'http' }]);
    expect(await client.tunnel(authority)).toBe(status);
  });
});
