/**
 * Connects a Node cell to its gateway. Node's own clients use the proxy from the environment variables, and a connection
 * to that becomes one to the gateway's unix socket; any other connection is denied.
 *
 * @module
 */
import { createServer, Socket } from 'node:net';
import { CapabilityDenied, short, type Denial, type Reporter } from './denials.ts';

const GATEWAY = '/run/gateway/socket';
const PROXY_HOST = '127.0.0.1';

export interface NetworkOptions {
  /** Port of the proxy; 0 if no host was granted. */
  proxyPort: number;
  /** Whether to listen on the port for programs that the skill starts; Node's own clients do not need it. */
  forChildren: boolean;
  reporter: Reporter;
}

interface Target {
  host?: string;
  port?: number | string;
  path?: string | null;
}

type Connect = (this: Socket, ...args: unknown[]) => Socket;

export function guardNetwork(options: NetworkOptions): void {
  const sockets = Socket.prototype as unknown as { connect: Connect };
  const { connect } = sockets;
  const guarded: Connect = function (...args) {
    const { target, done } = targetOf(args);
    if (typeof target.path === 'string') return connect.apply(this, args);
    const host = target.host ?? 'localhost';
    // Compares only the port, because for plain http Node's fetch combines the server's host with the proxy's port.
    if (options.proxyPort > 0 && Number(target.port) === options.proxyPort)
      return connect.call(this, { path: GATEWAY }, done);
    const denied = options.reporter.denied(denialOf(`${host}:${target.port ?? ''}`, options));
    process.nextTick(() => this.destroy(denied));
    return this;
  };
  sockets.connect = guarded;
  globalThis.fetch =
    options.proxyPort > 0 ? fetchWithDenials(globalThis.fetch) : deniedFetch(options.reporter);
  if (options.proxyPort > 0 && options.forChildren) forward(options.proxyPort, connect);
}

function denialOf(target: string, { proxyPort }: NetworkOptions): Denial {
  const declared =
    proxyPort > 0
      ? 'hosts are reached through the proxy alone, as fetch and the global agents do'
      : 'no such host is granted';
  return { capability: 'network', asked: `connect ${short(target)}`, declared };
}

/** Parses `connect(options, done)`, `connect(port, host, done)`, `connect(path, done)`, or all that as one array. */
function targetOf(args: unknown[]): { target: Target; done: unknown } {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const done = args.flat().find((arg) => typeof arg === 'function');
  if (typeof first === 'object' && first !== null) return { target: first, done };
  if (typeof first === 'string' && !/^\d+$/.test(first)) return { target: { path: first }, done };
  const host = typeof second === 'string' ? { host: second } : {};
  return { target: { port: first as number, ...host }, done };
}

/** Without a gateway, denies each request with the same message as the broker. */
function deniedFetch(reporter: Reporter): typeof globalThis.fetch {
  return async (...args) => {
    const { method, url } = new Request(...args);
    const { origin, pathname } = new URL(url);
    const asked = `${method} ${short(`${origin}${pathname}`)}`;
    throw reporter.denied({ capability: 'network', asked, declared: 'no network rule covers it' });
  };
}

/** Throws a denial of the gateway as such, instead of returning it like a server's response. */
function fetchWithDenials(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (...args) => {
    const response = await fetch(...args);
    const header = (key: string): string => response.headers.get(`skillcell-${key}`) ?? '';
    // The gateway strips such headers from servers, and has already recorded the denial.
    if (response.status !== 403 || header('code') !== 'denied') return response;
    throw new CapabilityDenied({
      capability: header('capability'),
      asked: header('asked'),
      declared: header('declared'),
    });
  };
}

function forward(port: number, connect: Connect): void {
  const server = createServer((client) => {
    const gateway = connect.call(new Socket(), { path: GATEWAY });
    client.on('error', () => gateway.destroy()).pipe(gateway);
    gateway.on('error', () => client.destroy()).pipe(client);
  });
  server.listen(port, PROXY_HOST).unref();
}
