/**
 * A WebSocket of a native program inside TLS that the gateway terminates.
 *
 * @module
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { createAuthority } from '../../../../src/broker/gateway/tls/authority.ts';
import { NativeClient } from '../native-client.ts';
import { secureServer } from './secure-server.ts';

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n';

it('a WebSocket works in both directions inside TLS and leaves no warning on the host', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', onWarning);
  const authority = createAuthority();
  const { server, inner } = secureServer(authority, '127.0.0.1', (_, response) => response.end());
  inner.on('upgrade', (_, socket) => {
    socket.on('error', () => undefined);
    socket.write(SWITCH);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = `127.0.0.1:${port}`;
  using client = new NativeClient(
    [{ host: '127.0.0.1', port, scheme: 'wss' }],
    { ca: [authority.certificate] },
    { inspectTls: true },
  );
  const socket = await client.secure(address, { host: '127.0.0.1', rejectUnauthorized: false });
  if (!(socket instanceof TLSSocket)) throw socket;
  const lines = ['GET /chat HTTP/1.1', `host: ${address}`, 'connection: Upgrade', 'upgrade: websocket'];
  socket.write(`${lines.join('\r\n')}\r\n\r\nfirst `);
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  while (!heard.includes('101')) await once(socket, 'data');
  socket.write('second');
  while (!heard.endsWith('first second')) await once(socket, 'data');
  expect(client.gateway.used).toMatchObject([{ asked: `GET wss://${address}/chat` }]);
  await setImmediate();
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
  socket.destroy();
  inner.closeAllConnections();
  server.close();
});
