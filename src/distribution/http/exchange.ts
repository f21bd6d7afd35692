/**
 * Sends one request and returns the head of its answer. Every address is checked at the moment of connecting, so that a name
 * that changes its address between two lookups gains nothing.
 *
 * @module
 */
import { lookup as resolveName, type LookupAddress } from 'node:dns';
import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import { SkillError } from '../../errors.ts';
import { quote, shortLine } from '../../manifest/quote.ts';
import { nodeHttp, nodeHttps } from '../../node-network.ts';
import { refused } from './problems.ts';
import { maySendTo, reachOfAddress, type Reach } from './reach.ts';
import { bareHost, isLoopbackHost, literalReach } from './web-address.ts';

const MAX_HEAD_BYTES = 32 * 1024;
const MAX_INTERIM = 16;

export interface Outgoing {
  readonly what: string;
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** How far away the server is that named this address; undefined if a person did. */
  readonly from?: Reach | undefined;
  readonly signal: AbortSignal;
  readonly silenceMs: number;
}

export interface Incoming {
  readonly message: IncomingMessage;
  readonly reach: Reach;
}

/** A failure of the network; the message says which. */
export class TransferFault extends Error {
  override readonly name = 'TransferFault';
  /** True if trying again may help. */
  readonly isTransient: boolean;

  constructor(
    message: string,
    { isTransient = false, cause }: { isTransient?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.isTransient = isTransient;
  }
}

type FromKey = Reach | 'person';

/**
 * The connections of one client. Loopback is never reached through a proxy. A connection that was checked for one kind of
 * origin is not reused for another.
 */
export class Connections {
  readonly #proxy: Record<string, string>;
  readonly #agents = new Map<string, Agent>();
  readonly #reach = new WeakMap<Socket, Reach>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#proxy = proxySettings(env);
  }

  agentFor(url: URL, from: FromKey): Agent {
    const key = `${from} ${url.protocol} ${isLoopbackHost(url)}`;
    const agent = this.#agents.get(key) ?? this.#makeAgent(url);
    this.#agents.set(key, agent);
    return agent;
  }

  #makeAgent(url: URL): Agent {
    const settings = { keepAlive: true, ...(isLoopbackHost(url) ? {} : { proxyEnv: this.#proxy }) };
    return new (moduleFor(url).Agent)(settings);
  }

  /** A reused connection keeps the reach that its address had; behind a proxy, servers count as public. */
  reachOf(socket: Socket, found: Reach | undefined): Reach {
    const reach = found ?? this.#reach.get(socket) ?? 'public';
    this.#reach.set(socket, reach);
    return reach;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }
}

function moduleFor({ protocol }: URL): ReturnType<typeof nodeHttp | typeof nodeHttps> {
  return protocol === 'https:' ? nodeHttps() : nodeHttp();
}

const PROXY_VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];

function proxySettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]);
  const found = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < 24 || (major === 24 && minor < 5);
  if (isOld && found.some(([name, value]) => value !== '' && !/^no_/i.test(name)))
    throw new SkillError(
      'usage',
      'This Node ignores HTTPS_PROXY, so requests would not go through your proxy',
      {
        fix: 'Install Node 24.5 or newer, or unset HTTPS_PROXY and HTTP_PROXY.',
      },
    );
  return Object.fromEntries(found);
}

export function exchange(out: Outgoing, connections: Connections): Promise<Incoming> {
  const { promise, resolve, reject } = Promise.withResolvers<Incoming>();
  const { url } = out;
  let reach = literalReach(url);
  if (reach !== undefined) assertMayReach(out, reach);
  const { request: send } = moduleFor(url);
  const outgoing = send({
    ...targetOf(out),
    agent: connections.agentFor(url, out.from ?? 'person'),
    lookup: checkedLookup(out, (found) => (reach = found)),
    timeout: out.silenceMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    signal: out.signal,
  });
  let interim = 0;
  outgoing.on('information', () => {
    if (++interim > MAX_INTERIM)
      outgoing.destroy(new TransferFault('the server sent too many interim answers'));
  });
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(new TransferFault('the server switched to another protocol'));
  });
  outgoing.on('timeout', () => outgoing.destroy(silence(out.silenceMs)));
  outgoing.on('error', (error) => reject(toFault(error)));
  outgoing.on('response', (message) => {
    resolve({ message, reach: connections.reachOf(message.socket, reach) });
  });
  outgoing.end(out.body);
  return promise;
}

function targetOf({ method, url, headers, body }: Outgoing): RequestOptions {
  return {
    method,
    host: bareHost(url),
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    path: url.pathname + url.search,
    headers: { ...headers, host: url.host, ...(body ? { 'content-length': String(body.length) } : {}) },
  };
}

export function silence(ms: number): TransferFault {
  return new TransferFault(`the server was silent for ${ms / 1000} s`);
}

function assertMayReach({ what, url, from }: Outgoing, reach: Reach | undefined): asserts reach is Reach {
  const shown = quote(url.host);
  if (reach === undefined) throw refused(what, `${shown} has an address that nothing is fetched from`);
  if (isLoopbackHost(url) && reach !== 'loopback')
    throw refused(what, `${shown} is not on this machine, as its name says`);
  if (from !== undefined && !maySendTo(from, reach))
    throw refused(what, `a server sent us to ${shown}, which is ${PLACES[reach]}`);
}

const PLACES: Readonly<Record<Reach, string>> = {
  public: 'public',
  private: 'in a private network',
  loopback: 'this machine',
};

/** Resolves a name and refuses it if one of its addresses may not be reached. Not called for a proxied server. */
function checkedLookup(out: Outgoing, onReach: (reach: Reach) => void): LookupFunction {
  return (hostname, options, done) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (error || !first) return done(error ?? new Error(`${hostname} has no address`), '', 0);
      try {
        for (const { address } of addresses) {
          const reach = reachOfAddress(address);
          assertMayReach(out, reach);
          onReach(reach);
        }
      } catch (refusal) {
        return done(refusal as Error, '', 0);
      }
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

const TRANSIENT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);

/** Our own errors stay as they are. */
export function toFault(error: unknown): Error {
  if (error instanceof SkillError || error instanceof TransferFault) return error;
  const { message, code = '' } = error as NodeJS.ErrnoException;
  const text = code === '' || message.includes(code) ? message : `${code}: ${message}`;
  return new TransferFault(shortLine(text), { isTransient: TRANSIENT.has(code), cause: error });
}
