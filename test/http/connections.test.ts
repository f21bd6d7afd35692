/**
 * Clients that begin requests and never end them: others are served all the same.
 */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Connections, CONNECTION_LIMITS, SERVER_TIMEOUTS } from '../../src/dispatch/connections.ts';

const open: Socket[] = [];
let server: Server | undefined;

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
});

interface Bench {
  port: number;
  connections: Connections;
}

async function serve(limits = CONNECTION_LIMITS): Promise<Bench> {
  const made = createServer(SERVER_TIMEOUTS, (request, response) => {
    request.resume().once('end', () => {
      if (request.url === '/slow') return;
      response.end('served');
    });
  });
  server = made;
  const connections = new Connections(limits);
  connections.watch(made);
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return { port: (made.address() as AddressInfo).port, connections };
}

async function begin(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  open.push(socket);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(text);
  return socket;
}

const get = (port: number): Promise<string> =>
  fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text());
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()));

describe('half-sent requests', () => {
  test.each([
    ['heads', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['bodies', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf'],
    ['nothing at all', ''],
  ])('1,010 %s leave room for the next client', async (_, text) => {
    const { port, connections } = await serve();
    for (let n = 0; n < 1010; n++) await begin(port, text);
    expect(await get(port)).toBe('served');
    expect(connections.count).toBeLessThanOrEqual(CONNECTION_LIMITS.mostWaiting);
    expect(connections.evicted).toBeGreaterThanOrEqual(1010 - CONNECTION_LIMITS.mostWaiting);
  });

  test('give way oldest first, and never a request that was sent whole', async () => {
    const { port, connections } = await serve({ most: 4, mostWaiting: 2 });
    const served = await begin(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    const whole = await begin(port, 'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const first = await begin(port, 'GET / HTTP/1.1\r\n');
    const second = await begin(port, 'GET / HTTP/1.1\r\n');
    const gone = closed(first);
    const third = await begin(port, 'GET / HTTP/1.1\r\n');
    await gone;
    expect([served, whole, second, third].map((socket) => socket.destroyed)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(connections.count).toBe(4);
  });

  test('a server that is full of whole requests turns the next connection away', async () => {
    const { port } = await serve({ most: 2, mostWaiting: 2 });
    for (let n = 0; n < 2; n++) await begin(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await closed(await begin(port, ''));
  });

  test('are looked for every second, not every thirty', () => {
    expect(SERVER_TIMEOUTS.connectionsCheckingInterval).toBeLessThanOrEqual(1000);
    expect(SERVER_TIMEOUTS.headersTimeout).toBeLessThan(SERVER_TIMEOUTS.requestTimeout ?? 0);
  });
});
