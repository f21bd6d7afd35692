/**
 * The service on a port: on this machine alone unless the operator says otherwise, and nowhere without a token.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Connections, isLoopback, SERVER_TIMEOUTS, SkillError } from '../index.ts';
import { createApp } from './app.ts';
import { Service, type ServiceOptions } from './service.ts';

export interface ListenOptions extends ServiceOptions {
  /** 0: any that is free. */
  port?: number;
  host?: string;
  /** How long running calls may take to finish when the service ends; milliseconds. */
  drainMs?: number;
}

export interface RunningService {
  readonly url: string;
  readonly service: Service;
  readonly connections: Connections;
  /** Takes no more calls, lets those that run finish, and ends. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const DRAIN_MS = 30_000;
const SWEEP_MS = 50;
const LAST_ANSWERS_MS = 2000;

export async function startService(options: ListenOptions): Promise<RunningService> {
  const { host = LOOPBACK, port = 0, drainMs = DRAIN_MS } = options;
  const service = new Service(options);
  assertMayListen(host, service);
  const listener = getRequestListener(createApp(service).fetch, { overrideGlobalObjects: false });
  const connections = new Connections();
  const answer = connections.inTurn((request, response) => {
    // What fails after the answer began can only be cut off.
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

async function close(server: Server, service: Service, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Clients keep connections for a next request, which would be refused.
  const sweeping = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await service.drain(drainMs);
  // Answers of the last calls are on their way; who has not read theirs by then does not read.
  const giveUp = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  await closed;
  clearInterval(sweeping);
  clearTimeout(giveUp);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new SkillError('usage', `Cannot listen on ${host}:${port}: ${cause.message}`, {
          fix: 'Give another --port, or end what uses this one.',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}

/** Where others can come in, the operator has to have said who may. */
function assertMayListen(host: string, { access }: Service): void {
  if (isLoopback(host) || access.rules.tokens.length > 0) return;
  throw new SkillError('usage', `Refused to listen on ${host}: there is no token, and others can reach it`, {
    fix: 'Make one first with `skillcell serve --new-token NAME`, or leave out --host.',
  });
}
