/**
 * Clients that start requests and never finish them do not affect others.
 */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  Connections,
  CONNECTION_LIMITS,
  MAX_PIPELINED,
  SERVER_TIMEOUTS,
  UNREAD_MS,
} from '../../src/dispatch/connections.ts';

const open: Socket[] = [];
let server: Server | undefined;

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
});

/** Number of handled requests, and the maximum at the same time. */
interface Counts {
  begun: number;
  atOnce: number;
}

interface Bench {
  port: number;
  connections: Connections;
  counts: Counts;
}

/** More than the kernel's socket buffers hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

async function serve(limits = CONNECTION_LIMITS): Promise<Bench> {
  const connections = new Connections(limits);
  let atOnce = 0;
  const answer = connections.inTurn((request, response) => {
    counts.begun++;
    counts.atOnce = Math.max(counts.atOnce, ++atOnce);
    response.once('finish', () => atOnce--);
    request.resume().once('end', () => {
      if (request.url === '/slow') return;
      if (request.url === '/large') response.end(LARGE);
      else setImmediate(() => response.end(`served ${request.url}`));
    });
  });
  const counts: Counts = { begun: 0, atOnce: 0 };
  const made = createServer(SERVER_TIMEOUTS, answer);
  server = made;
  connections.watch(made);
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return { port: (made.address() as AddressInfo).port, connections, counts };
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
  ])('leave room for the next client: 1,010 %s', async (_, text) => {
    const { port, connections } = await serve();
    for (let n = 0; n < 1010; n++) await begin(port, text);
    expect(await get(port)).toBe('served /');
    expect(connections.count).toBeLessThanOrEqual(CONNECTION_LIMITS.mostWaiting);
    expect(connections.evicted).toBeGreaterThanOrEqual(1010 - CONNECTION_LIMITS.mostWaiting);
  });

  test('are dropped oldest first, but a complete request never is', async () => {
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

  test('find no room on a server full of complete requests, which refuses the next connection', async () => {
    const { port } = await serve({ most: 2, mostWaiting: 2 });
    for (let n = 0; n < 2; n++) await begin(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await closed(await begin(port, ''));
  });

  test('are checked every second, not every thirty', () => {
    expect(SERVER_TIMEOUTS.connectionsCheckingInterval).toBeLessThanOrEqual(1000);
    expect(SERVER_TIMEOUTS.headersTimeout).toBeLessThan(SERVER_TIMEOUTS.requestTimeout ?? 0);
  });
});

test('a connection between two requests stays open for longer than proxies keep theirs', async () => {
  const { port } = await serve();
  const { headers } = await fetch(`http://127.0.0.1:${port}/`);
  const [, seconds] = /timeout=(\d+)/.exec(headers.get('keep-alive') ?? '') ?? [];
  expect(Number(seconds)).toBeGreaterThan(60);
});

describe('pipelined requests', () => {
  const ahead = (count: number): string =>
    Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');

  test('are answered in order and processed one at a time', async () => {
    const { port, counts } = await serve();
    const socket = await begin(port, ahead(MAX_PIPELINED));
    let text = '';
    await new Promise<void>((resolve) =>
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.includes(`served /${MAX_PIPELINED - 1}`)) resolve();
      }),
    );
    const order = [...text.matchAll(/served \/(\d+)/g)].map(([, n]) => Number(n));
    expect(order).toEqual([...Array(MAX_PIPELINED).keys()]);
    expect(counts.atOnce).toBe(1);
  });

  test('close their connection, and no other, if there are too many', async () => {
    const { port, connections, counts } = await serve();
    await closed(await begin(port, ahead(1000)));
    expect(await get(port)).toBe('served /');
    expect(counts.begun).toBe(2);
    expect(connections.count).toBeLessThanOrEqual(1);
  });
});

describe('responses that the client does not read', () => {
  test('give way to the next client', async () => {
    const { port } = await serve({ most: 2, mostWaiting: 2 });
    for (let n = 0; n < 2; n++) await begin(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await get(port)).toBe('served /');
  });

  test('close their connection after a while, but a slow call does not', async () => {
    const { port, connections } = await serve();
    expect(server?.timeout).toBe(UNREAD_MS);
    server?.setTimeout(200);
    const unread = await begin(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    const slow = await begin(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    const read = closed(unread);
    while (connections.count > 1) await new Promise((resolve) => setTimeout(resolve, 50));
    unread.resume();
    await read;
    expect(slow.destroyed).toBe(false);
  });
});
