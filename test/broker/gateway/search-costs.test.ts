/**
 * Bodies are searched for secrets on the thread that serves all calls. The host, not the sender of the bytes, determines how
 * long one step takes.
 *
 * @module
 */
import { once } from 'node:events';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { Budget } from '../../../src/broker/gateway/limits.ts';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { Asked, grantOf } from '../support.ts';
import { request, TestServer } from './http-server.ts';
import { NativeClient } from './native-client.ts';

const VALUE = 'sk-invented4711abcdef';
const SINGLE_BYTES = 5000;

const grantFor = ({ port }: TestServer, secretHost: string) => ({
  network: [{ host: '127.0.0.1', port, scheme: 'http' }] as NetworkRule[],
  privateAddresses: ['127.0.0.1'],
  secrets: [{ name: 'KEY', hosts: [secretHost], required: true }],
});

function clientOf(server: TestServer): NativeClient {
  const { network, ...grant } = grantFor(server, '127.0.0.1');
  const client = new NativeClient(network, {}, grant);
  client.gateway.arm(new Map([['KEY', VALUE]]));
  return client;
}

describe('a response of a server that a secret is for', () => {
  it('is searched in few chunks, however small the chunks of the server are', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n';
    await using server = await TestServer.startRaw((socket) =>
      socket.end(`${head}${'1\r\nx\r\n'.repeat(SINGLE_BYTES)}0\r\n\r\n`),
    );
    using client = clientOf(server);
    using counted = vi.spyOn(Budget.prototype, 'spend');
    const { authority } = server;
    const raw = await client.raw(
      `GET http://${authority}/ HTTP/1.1\r\nhost: ${authority}\r\nconnection: close\r\n\r\n`,
    );
    expect(raw.split('\r\n\r\n', 2)[1]?.replaceAll(/[^x]/g, '')).toHaveLength(SINGLE_BYTES);
    // The spy is called once per searched piece.
    expect(counted.mock.calls.length).toBeLessThan(100);
  });

  it('reaches the skill with its headers, before there is a body', async () => {
    await using server = await TestServer.startRaw((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n'),
    );
    using client = clientOf(server);
    const { socketPath } = client;
    const headers = { host: server.authority };
    const outgoing = requestHttp({ socketPath, path: `http://${server.authority}/`, headers });
    outgoing.on('error', () => undefined).end();
    const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(message.headers['content-type']).toBe('text/event-stream');
    message.on('error', () => undefined);
    outgoing.destroy();
  });
});

it('searching a large request body does not block other work', async () => {
  await using server = await TestServer.start((_, response) => response.end());
  const placeholder = 'placeholder-0123456789abcdef0123456789';
  using asked = new Asked(grantOf(grantFor(server, 'api.test')), '/', {
    secrets: { placeholders: { KEY: placeholder }, values: new Map([['KEY', VALUE]]) },
  });
  let [turns, isOver] = [0, false];
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const payload = Buffer.from('.'.repeat(4 * 1024 * 1024) + placeholder);
  const sent = asked.reply('http', request(server.authority, { method: 'POST' }), payload);
  await expect(sent).rejects.toThrow('exfiltration');
  isOver = true;
  expect(server.seen).toEqual([]);
  expect(turns).toBeGreaterThan(32);
});
