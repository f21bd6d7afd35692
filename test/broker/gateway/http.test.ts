import { describe, expect, it } from 'vitest';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { readBody, request, TestServer } from './http-server.ts';
import { Asked, grantOf } from '../support.ts';

const fine = (): Promise<TestServer> => TestServer.start((_, response) => response.end('fine'));

describe('a granted request', () => {
  it('arrives unchanged, and its response comes back complete', async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(
        201,
        [
          ['X-Two', 'a'],
          ['X-Two', 'b'],
          ['Content-Type', 'text/plain'],
        ].flat(),
      );
      response.end('ä'.repeat(100_000));
    });
    using asked = server.broker();
    const args = request(server.authority, {
      method: 'POST',
      path: '/a/b?c=d&e=%20',
      headers: [
        ['X-Mine', 'one'],
        ['x-mine', 'two\tand \xe9'],
        ['Content-Length', '999999'],
        ['__proto__', 'a name like any other'],
      ],
    });
    const { status, headers, body } = await asked.value('http', args, Buffer.from('sent'));
    expect(status).toBe(201);
    expect(headers).toEqual(
      expect.arrayContaining([
        ['X-Two', 'a'],
        ['X-Two', 'b'],
      ]),
    );
    expect((await readBody(asked, body, 1000)).toString()).toBe('ä'.repeat(100_000));
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'POST', url: '/a/b?c=d&e=%20', body: 'sent' });
    expect(Object.fromEntries(seen?.headers ?? [])).toMatchObject({
      host: server.authority,
      'content-length': '4',
      // A POST uses a new connection.
      Connection: 'close',
    });
    expect(seen?.headers.filter(([name]) => name === 'x-mine').map(([, value]) => value)).toEqual([
      'one',
      'two\tand \xe9',
    ]);
    expect(seen?.headers.map(([name]) => name)).toContain('__proto__');
  });

  it('is recorded without its query, which may contain keys', async () => {
    await using server = await fine();
    using asked = server.broker();
    await asked.value('http', request(server.authority, { path: '/x?key=hidden' }));
    expect(asked.broker.used).toEqual([
      { capability: 'network', asked: `GET http://${server.authority}/x`, declared: 'granted' },
    ]);
  });

  it('follows no redirect: the guest may follow it, and that request is checked again', async () => {
    await using server = await TestServer.start((_, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end();
    });
    using asked = server.broker();
    const { status } = await asked.value('http', request(server.authority));
    expect(status).toBe(302);
    expect(server.seen).toHaveLength(1);
    expect(await asked.code('http', request('127.0.0.1:1', { path: '/elsewhere' }))).toBe('denied');
  });
});

describe('a request that is not granted', () => {
  it.each([
    ['another port', { authority: '127.0.0.1:1' }],
    ['the usual port', { authority: '127.0.0.1' }],
    ['another host', { authority: 'localhost' }],
    ['another scheme', { scheme: 'https' }],
    ['another method', { method: 'DELETE' }],
    ['another path', { path: '/private' }],
    ['a path beside it', { path: '/apix' }],
    ['a path above it', { path: '/api/../private' }],
    ['a path above it, encoded', { path: '/api/%2e%2e/private' }],
    ['a path above it, with an encoded slash', { path: '/api/..%2fprivate' }],
    ['a path above it, encoded twice', { path: '/api/%252e%252e%252fprivate' }],
    ['a path above it, with backslashes', { path: '/api\\..\\private' }],
    ['a path above it, with encoded backslashes', { path: '/api/..%5cprivate' }],
    ['a path encoded too often', { path: `/api/%${'25'.repeat(8)}2e` }],
  ])('is denied for %s', async (_, more) => {
    await using server = await fine();
    using asked = server.broker({ methods: ['GET'], paths: ['/api/*', '/health'] });
    expect(await asked.code('http', request(server.authority, more))).toBe('denied');
    expect(asked.broker.denied).toHaveLength(1);
    expect(asked.broker.used).toEqual([]);
    expect(server.seen).toEqual([]);
    for (const path of ['/api/', '/api/a%2fb/c', '/health?x', '/api/x/../y', '/api/%25'])
      expect(await asked.code('http', request(server.authority, { path })), path).toBe('done');
  });

  it.each([
    ['user info', 'user@127.0.0.1'],
    ['user and password', 'a:b@127.0.0.1'],
    ['decimal', '2130706433'],
    ['octal', '0177.0.0.1'],
    ['hexadecimal', '0x7f.0.0.1'],
    ['short', '127.1'],
    ['with a dot behind', '127.0.0.1.'],
    ['name with a dot behind', 'example.com.'],
    ['full-width digits', '１２７.0.0.1'],
    ['a letter that is folded', 'exämple.com'],
    ['percent-encoded', '%31%32%37.0.0.1'],
    ['mapped IPv6 in dotted form', '[::ffff:127.0.0.1]'],
    ['uncompressed IPv6', '[0:0:0:0:0:0:0:1]'],
    ['IPv6 with a zone', '[fe80::1%25eth0]'],
    ['a port with zeros', '127.0.0.1:00080'],
    ['a port that is none', '127.0.0.1:99999'],
    ['no port', '127.0.0.1:'],
    ['a path', '127.0.0.1/x'],
    ['a fragment', '127.0.0.1#x'],
    ['a line end', '127.0.0.1\r\nhost: x'],
    ['a space', '127.0.0.1 '],
    ['a backslash', '127.0.0.1\\@evil'],
    ['broken punycode', 'xn--\u00fc.test'],
    ['nothing', ''],
    ['no text', 7],
  ])('is refused for another spelling of the host: %s', async (_, authority) => {
    await using server = await fine();
    const anything = ['127.0.0.1', '*.0.0.1', '::1', 'example.com', '*.com'].map((host) => ({
      host,
      scheme: 'http',
    }));
    using asked = new Asked(
      grantOf({ network: anything as NetworkRule[], privateAddresses: ['127.0.0.1', '::1'] }),
      '/',
      { lookup: async () => ['127.0.0.1'] },
    );
    expect(await asked.code('http', request(String(authority), { authority }))).toBe('inval');
    expect(server.seen).toEqual([]);
  });

  it('is compared in lower case, and a punycode name only matches itself', async () => {
    await using server = await fine();
    const network: NetworkRule[] = [
      { host: 'xn--exmple-cua.test', port: server.port, scheme: 'http' },
      { host: '127.0.0.1', port: server.port, scheme: 'http' },
    ];
    const names: string[] = [];
    const lookup = async (name: string): Promise<string[]> => (names.push(name), ['8.8.8.8', '127.0.0.1']);
    using asked = new Asked(grantOf({ network, privateAddresses: ['127.0.0.1'] }), '/', { lookup });
    expect(await asked.code('http', request(`XN--EXMPLE-CUA.test:${server.port}`))).toBe('denied');
    expect(names).toEqual(['xn--exmple-cua.test']);
    expect(await asked.code('http', request(`exmple-cua.test:${server.port}`))).toBe('denied');
    expect(names).toHaveLength(1);
  });

  it.each([
    ['method', { method: 'get' }],
    ['method that makes a tunnel', { method: 'CONNECT' }],
    ['method that mirrors', { method: 'TRACE' }],
    ['method with a line end', { method: 'GET / HTTP/1.1\r\n' }],
    ['scheme', { scheme: 'file' }],
    ['no scheme', { scheme: undefined }],
    ['path without a slash', { path: 'x' }],
    ['path with a line end', { path: '/\r\nx: y' }],
    ['path with a space', { path: '/a b' }],
    ['path with a fragment', { path: '/a#b' }],
    ['path beyond ASCII', { path: '/ä' }],
    ['path that is too long', { path: `/${'x'.repeat(9000)}` }],
    ['header name', { headers: [['a b', 'x']] }],
    ['header name with a line end', { headers: [['a\r\nb', 'x']] }],
    ['header name with a colon', { headers: [['a:', 'x']] }],
    ['header without a name', { headers: [['', 'x']] }],
    ['header value with a line end', { headers: [['a', 'x\r\nhost: evil']] }],
    ['header value with a bare line feed', { headers: [['a', 'x\ny: z']] }],
    ['header value with a NUL', { headers: [['a', 'x\0']] }],
    ['header value beyond Latin-1', { headers: [['a', 'Ā']] }],
    ['header that is no pair', { headers: ['ab'] }],
    ['headers that are no list', { headers: { a: 'b' } }],
    ['too many headers', { headers: Array.from({ length: 101 }, () => ['a', 'b']) }],
    ['too large headers', { headers: Array.from({ length: 9 }, () => ['a', 'b'.repeat(8000)]) }],
  ])('is refused if malformed: %s', async (_, more) => {
    await using server = await fine();
    using asked = server.broker();
    expect(await asked.code('http', request(server.authority, more))).toBe('inval');
    expect(server.seen).toEqual([]);
    expect(server.sockets.size).toBe(0);
  });

  it.each([
    'Host',
    'connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'HTTP2-Settings',
    'Expect',
    'Proxy-Authorization',
    'Proxy-Connection',
  ])('is refused with a connection header: %s', async (name) => {
    await using server = await fine();
    using asked = server.broker();
    expect(await asked.code('http', request(server.authority, { headers: [[name, 'x']] }))).toBe('inval');
  });
});

describe('the address check of a request', () => {
  const named = (port: number): NetworkRule[] => [{ host: 'name.test', port, scheme: 'http' }];

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1', '[::1]', '[fd00::1]', '0.0.0.0'])(
    'refuses %s, even if a rule names it, unless the operator does',
    async (authority) => {
      const network = [{ host: authority, scheme: 'http' } as NetworkRule];
      using asked = new Asked(grantOf({ network }), '/');
      expect(await asked.code('http', request(authority))).toBe('denied');
      expect(asked.broker.denied[0]?.declared).toContain('is no public address');
    },
  );

  it('refuses a name with a private address, even if it is one of many', async () => {
    await using server = await fine();
    for (const addresses of [
      ['127.0.0.1'],
      ['8.8.8.8', '10.0.0.1'],
      ['2600::1', '::1'],
      ['::ffff:127.0.0.1'],
    ]) {
      using asked = new Asked(
        grantOf({ network: named(server.port), privateAddresses: ['127.0.0.1'] }),
        '/',
        {
          lookup: async () => addresses,
        },
      );
      expect(await asked.code('http', request(`name.test:${server.port}`))).toBe('denied');
    }
    expect(server.sockets.size).toBe(0);
  });

  it('resolves once, so that a name with changing addresses gains nothing', async () => {
    await using server = await fine();
    let lookups = 0;
    // The first lookup is checked; a second one would return the address of our server.
    const lookup = async (): Promise<string[]> => (lookups++ === 0 ? ['10.9.8.7'] : ['127.0.0.1']);
    using asked = new Asked(grantOf({ network: named(server.port), privateAddresses: ['127.0.0.1'] }), '/', {
      lookup,
    });
    expect(await asked.code('http', request(`name.test:${server.port}`))).toBe('denied');
    expect(lookups).toBe(1);
    expect(server.seen).toEqual([]);
  });

  it('distinguishes a name that does not exist from one that is refused', async () => {
    const broken = async (): Promise<string[]> => Promise.reject(new Error('no such name'));
    for (const lookup of [broken, async (): Promise<string[]> => []]) {
      using asked = new Asked(grantOf({ network: named(80) }), '/', { lookup });
      expect(await asked.code('http', request('name.test'))).toBe('dns');
    }
  });
});
