/**
 * Malformed responses of servers against the real gateway: through its proxy, a WebSocket upgrade and frames. Whatever the
 * response is, the client gets a well-formed one or none, there is no uncaught exception, the next request works,
 * and no connection is left open.
 *
 * @module
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { gatewayOpener } from '../../src/broker/gateway/cell-gateway.ts';
import { HttpBroker } from '../../src/broker/gateway/frames.ts';
import { Records } from '../../src/broker/records.ts';
import { BrokerRefusal, type CellGateway } from '../../src/cell/contract.ts';
import type { Grant } from '../../src/policy/grant.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';
import { answerOf, type UpstreamAnswer } from './upstream/answers.ts';
import { Upstream } from './upstream/server.ts';

/** How long to wait for a silent server. */
const SILENCE_MS = 200;
const PATIENCE_MS = 30_000;
/** Maximum wait for connections to close; only one that never closes takes this long. */
const LEAK_MS = 20_000;
const HEAD =
  /^HTTP\/1\.1 [1-9]\d\d [\t\x20-\x7e\x80-\xff]*\r\n(?:[!-9;-~]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n/;
const UPGRADE = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
];

interface Scene {
  upstream: Upstream;
  home: string;
  /** Uncaught exceptions. */
  escaped: unknown[];
}

export const upstreamTarget: FuzzTarget = makeTarget();

function makeTarget(): FuzzTarget {
  let scene: Scene | undefined;
  return fuzzTarget({
    name: 'upstream',
    input: answerOf,
    check: (answer: UpstreamAnswer) => {
      if (!scene) throw new Error('The target is not open');
      return check(answer, scene);
    },
    open: async () => {
      const { close, ...opened } = await openScene();
      scene = opened;
      return close;
    },
  });
}

async function openScene(): Promise<Scene & { close: () => Promise<void> }> {
  const escaped: unknown[] = [];
  const onEscape = (error: unknown): void => void escaped.push(error);
  process.on('uncaughtException', onEscape).on('unhandledRejection', onEscape);
  const home = mkdtempSync(join(tmpdir(), 'skillcell-fuzz-'));
  const upstream = await new Upstream().listen();
  const close = async (): Promise<void> => {
    process.off('uncaughtException', onEscape).off('unhandledRejection', onEscape);
    await upstream.close();
    rmSync(home, { recursive: true, force: true });
  };
  return { upstream, home, escaped, close };
}

/** The two ways to the same server: a proxy and frames. */
interface Ways {
  gateway: CellGateway;
  broker: HttpBroker;
  authority: string;
  silenceMs: number;
}

async function check(answer: UpstreamAnswer, scene: Scene): Promise<boolean> {
  const { upstream, escaped } = scene;
  upstream.answer = answer;
  const isHeld = answer.ending === 'hold';
  const ways = openWays(scene, isHeld ? SILENCE_MS : PATIENCE_MS);
  try {
    const plain = await byProxy(ways, '/bad', ['connection: close']);
    assertHead('the proxy', plain);
    assertHead('an upgrade', await byProxy(ways, '/bad', UPGRADE));
    const framed = await byFrames(ways, '/bad');
    // A test that waits for silence cannot rely on a good response on a busy machine.
    await (isHeld ? assertFreshGood(scene) : assertGood(ways));
    return /^HTTP\/1\.1 [1-4]/.test(plain) || framed !== undefined;
  } finally {
    closeWays(ways);
    await assertNothingLeft(upstream, escaped);
  }
}

function openWays({ upstream, home }: Scene, timeoutMs: number): Ways {
  const grant = grantFor(upstream.port);
  const open = gatewayOpener({ home, timeoutMs, ca: [] });
  return {
    gateway: open({ grant, placeholders: {}, uid: undefined }),
    broker: new HttpBroker(grant, new Records(grant), { timeoutMs }),
    authority: upstream.authority,
    silenceMs: timeoutMs,
  };
}

function closeWays({ gateway, broker }: Ways): void {
  gateway.close();
  broker.close();
}

async function assertFreshGood(scene: Scene): Promise<void> {
  const ways = openWays(scene, PATIENCE_MS);
  await assertGood(ways);
  closeWays(ways);
}

async function assertGood(ways: Ways): Promise<void> {
  const good = await byProxy(ways, '/good', ['connection: close']);
  if (!good.endsWith('fine')) throw new Error(`The next request got ${JSON.stringify(good.slice(0, 200))}`);
  if ((await byFrames(ways, '/good')) !== 'fine') throw new Error('The next request by frames failed');
}

function grantFor(port: number): Grant {
  const limits = { timeout: 1, cpu: 1, memory: 1, output: 1, processes: 0, scratch: 1 };
  const network = (['http', 'ws'] as const).map((scheme) => ({ host: '127.0.0.1', port, scheme }));
  const privateAddresses = ['127.0.0.1'];
  return { filesystem: [], network, privateAddresses, env: {}, syscalls: 'default', limits, withheld: [] };
}

/** Everything that the proxy sends, up to the protocol switch. */
async function byProxy({ gateway, authority }: Ways, path: string, headers: string[]): Promise<string> {
  const socket = connect(join(gateway.folder, 'socket'));
  let seen = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    seen += chunk.toString('latin1');
    if (/^HTTP\/1\.1 101 [^]*\r\n\r\n/.test(seen)) socket.destroy();
  });
  socket.write(
    [`GET http://${authority}${path} HTTP/1.1`, `host: ${authority}`, ...headers, '', ''].join('\r\n'),
  );
  await once(socket, 'close');
  return seen;
}

/** The body, or undefined if it was refused. */
async function byFrames({ broker, authority, silenceMs }: Ways, path: string): Promise<string | undefined> {
  let text = '';
  try {
    const args = {
      method: 'GET',
      scheme: 'http',
      authority,
      path,
      headers: [],
      betweenBytesTimeout: silenceMs,
    };
    const reply = await broker.handle({ op: 'http', args });
    const body = reply?.value['body'];
    for (
      let bytes: Uint8Array | undefined;
      bytes?.length !== 0;
      text += Buffer.from(bytes).toString('latin1')
    )
      bytes =
        (await broker.handle({ op: 'httpRead', args: { body, length: 65_536 } }))?.payload ??
        new Uint8Array();
    return text;
  } catch (error) {
    if (error instanceof BrokerRefusal) return undefined;
    throw error;
  }
}

function assertHead(way: string, seen: string): void {
  if (seen !== '' && !HEAD.test(seen)) throw new Error(`By ${way}: ${JSON.stringify(seen.slice(0, 300))}`);
}

async function assertNothingLeft(upstream: Upstream, escaped: unknown[]): Promise<void> {
  const until = Date.now() + LEAK_MS;
  while (upstream.sockets.size > 0 && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 2));
  if (upstream.sockets.size > 0) throw new Error(`${upstream.sockets.size} connections were left open`);
  const [first] = escaped.splice(0);
  if (first !== undefined) throw new Error(`Uncaught: ${inspect(first)}`);
}
