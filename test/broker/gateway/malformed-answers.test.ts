import { describe, expect, it } from 'vitest';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { request, TestServer } from './http-server.ts';
import { NativeClient } from './native-client.ts';

const UPGRADE = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
];
const rulesFor = ({ port }: TestServer): NetworkRule[] =>
  (['http', 'ws'] as const).map((scheme) => ({ host: '127.0.0.1', port, scheme }));

/** Answers the first request with these bytes, and all later ones correctly. */
function onceBad(bytes: string): Promise<TestServer> {
  let asked = 0;
  return TestServer.startRaw((socket) =>
    socket.end(asked++ === 0 ? bytes : 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nfine', 'latin1'),
  );
}

describe('a response that violates HTTP', () => {
  const rows: [string, string][] = [
    ['a control character as its reason', 'HTTP/1.1 200 \x01\r\ncontent-length: 0\r\n\r\n'],
    ['a reason with DEL', 'HTTP/1.1 200 O\x7fK\r\ncontent-length: 0\r\n\r\n'],
    ['the status 000', 'HTTP/1.1 000 Zero\r\ncontent-length: 0\r\n\r\n'],
    ['the status 099', 'HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n'],
    ['more headers than anybody needs', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(300)}\r\n`],
    ['interim answers without end', 'HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n'.repeat(100)],
  ];
  it.each(rows)('becomes a 502 for a native program, and the next request works: %s', async (_, bytes) => {
    await using server = await onceBad(bytes);
    using client = new NativeClient(rulesFor(server));
    const ask = (): Promise<string> =>
      client.raw(
        `GET http://${server.authority}/ HTTP/1.1\r\nhost: ${server.authority}\r\nconnection: close\r\n\r\n`,
      );
    expect(await ask()).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n[^]*skillcell-code: proto/);
    expect(await ask()).toContain('fine');
  });

  it.each(rows)('becomes a 502 for a WebSocket, and the next request works: %s', async (_, bytes) => {
    await using server = await onceBad(bytes);
    using client = new NativeClient(rulesFor(server));
    const ask = (): Promise<string> =>
      client.raw(
        [`GET http://${server.authority}/ HTTP/1.1`, `host: ${server.authority}`, ...UPGRADE, '', ''].join(
          '\r\n',
        ),
      );
    expect(await ask()).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n/);
    expect(await ask()).toContain('fine');
  });

  it.each(rows)('causes the same error for a Wasm cell: %s', async (_, bytes) => {
    await using server = await onceBad(bytes);
    using asked = server.broker();
    expect(await asked.code('http', request(server.authority))).toBe('proto');
    expect(await asked.code('http', request(server.authority))).toBe('done');
  });

  it('is refused if a protocol switch has an invalid reason, and its connection is closed', async () => {
    const switched = 'HTTP/1.1 101 \x01\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n';
    await using server = await TestServer.startRaw((socket) => socket.write(switched));
    using client = new NativeClient(rulesFor(server));
    const lines = [
      `GET http://${server.authority}/ HTTP/1.1`,
      `host: ${server.authority}`,
      ...UPGRADE,
      '',
      '',
    ];
    expect(await client.raw(lines.join('\r\n'))).toMatch(/^HTTP\/1.1 502 /);
    while (server.sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
