/**
 * A malicious server sends a guess, pauses, and observes how many bytes have reached the skill. That number must not depend on
 * whether the guess is right.
 *
 * @module
 */
import { once } from 'node:events';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { Asked, grantOf } from '../support.ts';
import { request, TestServer } from './http-server.ts';
import { NativeClient } from './native-client.ts';

const VALUE = 'sk-invented4711abcdef';
const LONGEST_SPELLING = VALUE.length * String.raw`\u0000`.length;
const PADDING = 1000;
const GUESSES = [
  '',
  's',
  'sk-inv',
  VALUE.slice(0, -1),
  'sk-wrong-guess-000000',
  'zzzzzz',
  '%73%6B',
  String.raw`\u0073\u00`,
];

/** Answers any request with padding and the guess, then continues on a signal. */
class Pausing {
  guess = '';
  readonly #paused: Socket[] = [];
  readonly server: Promise<TestServer> = TestServer.startRaw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${'.'.repeat(PADDING)}${this.guess}`);
    this.#paused.push(socket);
  });

  goOn(): void {
    for (const socket of this.#paused.splice(0)) socket.end('>');
  }
}

/** Number of body bytes that arrive before the server pauses, waiting long enough for all of them. */
type Watch = (server: TestServer, secretHost: string, atLeast: number) => Promise<number>;

const grantFor = ({ port }: TestServer, secretHost: string) => ({
  network: [{ host: '127.0.0.1', port, scheme: 'http' }] as NetworkRule[],
  privateAddresses: ['127.0.0.1'],
  secrets: [{ name: 'KEY', hosts: [secretHost], required: true }],
});

const byProxy: Watch = async (server, secretHost, atLeast) => {
  const { network, ...grant } = grantFor(server, secretHost);
  using client = new NativeClient(network, {}, grant);
  client.gateway.arm(new Map([['KEY', VALUE]]));
  const { socketPath } = client;
  const outgoing = requestHttp({
    socketPath,
    path: `http://${server.authority}/`,
    headers: { host: server.authority },
  });
  outgoing.on('error', () => undefined).end();
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
  const received: Buffer[] = [];
  message.on('error', () => undefined).on('data', (chunk: Buffer) => received.push(chunk));
  while (Buffer.concat(received).length < atLeast) await sleep(2);
  await sleep(20);
  outgoing.destroy();
  return Buffer.concat(received).length;
};

const byFrames: Watch = async (server, secretHost, atLeast) => {
  using asked = new Asked(grantOf(grantFor(server, secretHost)), '/', {
    secrets: { placeholders: {}, values: new Map([['KEY', VALUE]]) },
  });
  const { body } = await asked.value('http', request(server.authority));
  let received = 0;
  while (received < atLeast) {
    const { payload } = await asked.reply('httpRead', { body, length: 65_536 });
    received += payload?.length ?? 0;
  }
  return received;
};

describe.each([
  ['the proxy of a native cell', byProxy],
  ['the frames of a Wasm cell', byFrames],
])('a pause in a response, seen through %s,', (_, watch) => {
  it.each(GUESSES)('shows all bytes from a server that the secret is not for: "%s"', async (guess) => {
    const pausing = new Pausing();
    await using server = await pausing.server;
    pausing.guess = guess;
    const whole = PADDING + guess.length;
    expect(await watch(server, 'api.test', whole)).toBe(whole);
    pausing.goOn();
  });

  it.each(GUESSES)(
    'shows the same number of bytes from the server that the secret is for: "%s"',
    async (guess) => {
      const pausing = new Pausing();
      await using server = await pausing.server;
      pausing.guess = guess;
      const released = PADDING + guess.length - (LONGEST_SPELLING - 1);
      expect(await watch(server, '127.0.0.1', released)).toBe(released);
      pausing.goOn();
    },
  );
});
