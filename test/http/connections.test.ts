/**
 * Clients that begin requests and never end them: others are served all the same.
 */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  Connections,
  CONNECTION_LIMITS,
  MOST_AHEAD,
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

/** Requests that were worked on: all, and at the same time at most. */
interface Counts {
  begun: number;
  atOnce: number;
}

interface Bench {
  port: number;
  connections: Connections;
  counts: Counts;
}

/** More than the kernel takes off our hands. */
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
  ])('1,010 %s leave room for the next client', async (_, text) => {
    const { port, connections } = await serve();
    for (let n = 0; n < 1010; n++) await begin(port, text);
    expect(await get(port)).toBe('served /');
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

describe('requests that are sent ahead of answers', () => {
  const ahead = (count: number): string =>
    Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');

  test('are answered in their order, and only one is worked on at a time', async () => {
    const { port, counts } = await serve();
    const socket = await begin(port, ahead(MOST_AHEAD));
    let text = '';
    await new Promise<void>((resolve) =>
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.includes(`served /${MOST_AHEAD - 1}`)) resolve();
      }),
    );
    const order = [...text.matchAll(/served \/(\d+)/g)].map(([, n]) => Number(n));
    expect(order).toEqual([...Array(MOST_AHEAD).keys()]);
    expect(counts.atOnce).toBe(1);
  });

  test('end their connection when there are too many, and no other', async () => {
    const { port, connections, counts } = await serve();
    await closed(await begin(port, ahead(1000)));
    expect(await get(port)).toBe('served /');
    expect(counts.begun).toBe(2);
    expect(connections.count).toBeLessThanOrEqual(1);
  });
});

describe('answers that nobody reads', () => {
  test('give way to the next client', async () => {
    const { port } = await serve({ most: 2, mostWaiting: 2 });
    for (let n = 0; n < 2; n++) await begin(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await get(port)).toBe('served /');
  });

  test('end their connection after a while; a call that takes its time does not', async () => {
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
