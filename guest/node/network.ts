/**
 * The way of a Node cell to its gateway. Node's own clients ask the proxy that the variables name, and a connection to
 * it becomes one to the unix socket of the gateway; any other connection is a denial.
 *
 * @module
 */
import { createServer, Socket } from 'node:net';
import { CapabilityDenied, short, type Denial, type Reporter } from './denials.ts';

const GATEWAY = '/run/gateway/socket';
const PROXY_HOST = '127.0.0.1';

export interface Way {
  /** 0: no host was granted. */
  proxyPort: number;
  /** Programs that the skill starts need a port, where Node's own clients do not. */
  forChildren: boolean;
  reporter: Reporter;
}

interface Target {
  host?: string;
  port?: number | string;
  path?: string | null;
}

type Connect = (this: Socket, ...args: unknown[]) => Socket;

export function guardNetwork(way: Way): void {
  const sockets = Socket.prototype as unknown as { connect: Connect };
  const { connect } = sockets;
  const guarded: Connect = function (...args) {
    const { target, done } = targetOf(args);
    if (typeof target.path === 'string') return connect.apply(this, args);
    const host = target.host ?? 'localhost';
    // By the port alone: for plain http Node's fetch names the server's host beside the proxy's port.
    if (way.proxyPort > 0 && Number(target.port) === way.proxyPort)
      return connect.call(this, { path: GATEWAY }, done);
    const denied = way.reporter.denied(denialOf(`${host}:${target.port ?? ''}`, way));
    process.nextTick(() => this.destroy(denied));
    return this;
  };
  sockets.connect = guarded;
  globalThis.fetch = way.proxyPort > 0 ? tellingFetch(globalThis.fetch) : deniedFetch(way.reporter);
  if (way.proxyPort > 0 && way.forChildren) forward(way.proxyPort, connect);
}

function denialOf(target: string, { proxyPort }: Way): Denial {
  const declared =
    proxyPort > 0
      ? 'hosts are reached through the proxy alone, as fetch and the global agents do'
      : 'no such host is granted';
  return { capability: 'network', asked: `connect ${short(target)}`, declared };
}

/** `connect(options, done)`, `connect(port, host, done)`, `connect(path, done)`, or all that as one list. */
function targetOf(args: unknown[]): { target: Target; done: unknown } {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const done = args.flat().find((arg) => typeof arg === 'function');
  if (typeof first === 'object' && first !== null) return { target: first, done };
  if (typeof first === 'string' && !/^\d+$/.test(first)) return { target: { path: first }, done };
  const host = typeof second === 'string' ? { host: second } : {};
  return { target: { port: first as number, ...host }, done };
}

/** Where there is nobody to ask, in the words of those whom other cells ask. */
function deniedFetch(reporter: Reporter): typeof globalThis.fetch {
  return async (...args) => {
    const { method, url } = new Request(...args);
    const { origin, pathname } = new URL(url);
    const asked = `${method} ${short(`${origin}${pathname}`)}`;
    throw reporter.denied({ capability: 'network', asked, declared: 'no network rule covers it' });
  };
}

/** What the gateway refuses is raised as the denial it is, and not taken for the answer of a server. */
function tellingFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (...args) => {
    const response = await fetch(...args);
    const said = (key: string): string => response.headers.get(`skillcell-${key}`) ?? '';
    // The gateway lets no such header of a server pass, and has the denial on record.
    if (response.status !== 403 || said('code') !== 'denied') return response;
    throw new CapabilityDenied({
      capability: said('capability'),
      asked: said('asked'),
      declared: said('declared'),
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
