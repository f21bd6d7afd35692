/**
 * The service on a port. It listens only on loopback by default, and on other addresses only if there is a token.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Connections, SERVER_TIMEOUTS, SkillError, isLoopback } from '../inside.ts';
import { sendWhole } from './answers.ts';
import { createApp } from './app.ts';
import { Service, type ServiceOptions } from './service.ts';

/** Options of `startService`. */
export interface ListenOptions extends ServiceOptions {
  /** 0 picks a free port. */
  port?: number;
  host?: string;
  /** Time that running calls get to finish on shutdown, in milliseconds. */
  drainMs?: number;
}

/** A listening service. */
export interface RunningService {
  readonly url: string;
  readonly service: Service;
  readonly connections: Connections;
  /** Refuses new calls, lets running ones finish, and stops. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const DRAIN_MS = 30_000;
const SWEEP_MS = 50;
const LAST_ANSWERS_MS = 2000;

/** Starts the HTTP service. */
export async function startService(options: ListenOptions): Promise<RunningService> {
  const { host = LOOPBACK, port = 0, drainMs = DRAIN_MS } = options;
  const service = new Service(options);
  assertMayListen(host, service);
  const app = createApp(service);
  const respond = async (request: Request, exchange: object): Promise<Response> => {
    const response = await app.fetch(request, exchange);
    return sendWhole(response, exchange) ? RESPONSE_ALREADY_SENT : response;
  };
  const listener = getRequestListener(respond, { overrideGlobalObjects: false });
  const connections = new Connections();
  const answer = connections.inTurn((request, response) => {
    // An error after the response has started can only close the connection.
    listener(request, response).catch(() => response.destroy());
  });
  const server = createServer(SERVER_TIMEOUTS, answer);
  connections.watch(server);
  await listen(server, host, port);
  const { port: actual } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${actual}`,
    service,
    connections,
    close: () => (closing ??= close(server, service, drainMs)),
  };
}

/** The port stays open while calls finish, so that a load balancer sees that this instance is closing. */
async function close(server: Server, service: Service, drainMs: number): Promise<void> {
  await service.drain(drainMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Clients keep idle connections for further requests, which would be refused.
  const sweeping = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  // Leaves clients some time to read the last answers.
  const deadline = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  await closed;
  clearInterval(sweeping);
  clearTimeout(deadline);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new SkillError('usage', `Cannot listen on ${host}:${port}: ${cause.message}`, {
          fix: 'Choose another --port, or stop the program that uses this one.',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}

/** Refuses an address that other machines can reach if no token restricts access. */
function assertMayListen(host: string, { access }: Service): void {
  if (isLoopback(host) || access.rules.tokens.length > 0) return;
  throw new SkillError(
    'usage',
    `Refused to listen on ${host}: it is reachable from other machines, but no token is set`,
    {
      fix: 'Create a token first with `skillcell tokens create NAME`, or omit --host.',
    },
  );
}
