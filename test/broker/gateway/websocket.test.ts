import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { NativeClient } from './native-client.ts';

const rulesFor = (server: { port: number }, more: Partial<NetworkRule> = {}): NetworkRule[] => [
  { host: '127.0.0.1', port: server.port, scheme: 'http', ...more },
];

describe('WebSockets', () => {
  const handshake = [
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];

  async function echoServer(): Promise<{ server: Server; port: number }> {
    const server = createServer((_, response) => response.end('plain'));
    server.on('upgrade', (_request, socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nx-mine: y\r\n\r\n',
      );
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, port: (server.address() as AddressInfo).port };
  }

  it('open only if a rule says ws, and a rule for ws allows nothing else', async () => {
    const { server, port } = await echoServer();
    const authority = `127.0.0.1:${port}`;
    const lines = [
      `GET http://${authority}/chat HTTP/1.1`,
      `host: ${authority}`,
      'connection: Upgrade',
      ...handshake,
    ];
    const upgrade = `${lines.join('\r\n')}\r\n\r\n`;
    using plain = new NativeClient(rulesFor({ port }));
    expect(await plain.raw(upgrade)).toMatch(/^HTTP\/1.1 403 /);
    expect(plain.gateway.denied).toMatchObject([{ asked: `GET ws://${authority}/chat` }]);
    using socketOnly = new NativeClient(rulesFor({ port }, { scheme: 'ws', paths: ['/chat'] }));
    expect((await socketOnly.ask(`http://${authority}/chat`)).status).toBe(403);
    const socket = connect(socketOnly.socketPath);
    socket.write(`${upgrade}first `);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1.1 101 [^]*x-mine: y\r\n/);
    const heard = [head.toString().split('\r\n\r\n')[1] ?? ''];
    socket.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
    socket.write('second');
    while (heard.join('') !== 'first second') await sleep(5);
    expect(socketOnly.gateway.used).toMatchObject([{ asked: `GET ws://${authority}/chat` }]);
    socketOnly.gateway.close();
    if (!socket.closed) await once(socket, 'close');
    server.closeAllConnections();
    server.close();
  });

  it('cannot be used to ask for another protocol, and a server may decline', async () => {
    const { server, port } = await echoServer();
    const authority = `127.0.0.1:${port}`;
    server.removeAllListeners('upgrade');
    using client = new NativeClient([...rulesFor({ port }), ...rulesFor({ port }, { scheme: 'ws' })]);
    const ask = (upgrade: string[]): Promise<string> =>
      client.raw(
        [`GET http://${authority}/ HTTP/1.1`, `host: ${authority}`, ...upgrade, '', ''].join('\r\n'),
      );
    expect(await ask(['connection: Upgrade, close', 'upgrade: h2c'])).toMatch(/^HTTP\/1.1 200 [^]*plain/);
    expect(await ask(['connection: Upgrade, close', ...handshake])).toMatch(/^HTTP\/1.1 200 [^]*plain/);
    server.closeAllConnections();
    server.close();
  });
});
