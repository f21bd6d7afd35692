/**
 * The server over HTTP, at `/mcp`.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { Connections, isLoopback, SERVER_TIMEOUTS, SkillError } from '../../index.ts';
import { MAX_HTTP_MESSAGE_BYTES } from '../limits.ts';
import type { SkillServer } from '../skill-server.ts';
import { openGate } from './gate.ts';
import { readLargeRequest } from './read-request.ts';
import { Sessions } from './sessions.ts';

const PATH = '/mcp';
const MIN_TOKEN = 16;
const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

export interface HttpOptions {
  /** 0 for any that is free. */
  port: number;
  /** The address to listen on. */
  host?: string;
  /**
   * What clients must send. Needed for an address that others can reach; on the loopback one is made if it is left out, and
   * `false` lets every program of this machine in.
   */
  token?: string | false | undefined;
  /** Names by which clients may call this server, besides the loopback and `host`. */
  allowedHosts?: readonly string[];
  onNote: (text: string) => void;
}

export interface HttpService extends AsyncDisposable {
  url: string;
  /** What clients must send; absent if none was wanted. */
  token?: string;
  close: () => Promise<void>;
}

export async function serveOverHttp(skills: SkillServer, options: HttpOptions): Promise<HttpService> {
  const { host = '127.0.0.1', port, allowedHosts = [] } = options;
  assertGuarded(host, options.token || undefined);
  const token = options.token === false ? undefined : (options.token ?? randomBytes(32).toString('hex'));
  // "All addresses" is no name that a client has for us.
  const ownName = UNSPECIFIED.has(host) ? [] : [bracketed(host)];
  const handler = createHandler(skills, { ...options, token, allowedHosts: [...allowedHosts, ...ownName] });
  const listener = getRequestListener(handler.fetch, { overrideGlobalObjects: false });
  const connections = new Connections();
  const answer = connections.inTurn((incoming, outgoing) => {
    // What fails after the answer began can only be cut off.
    listener(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const server = createServer(SERVER_TIMEOUTS, answer);
  connections.watch(server);
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw cannotListen(host, port, error);
  });
  const { port: taken } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    // Calls end first: whoever waits still gets an answer.
    await skills.close();
    await handler.close();
    server.closeAllConnections();
    await closed;
  };
  const url = `http://${bracketed(host)}:${taken}${PATH}`;
  return { url, ...(token === undefined ? {} : { token }), close, [Symbol.asyncDispose]: close };
}

interface Handler {
  fetch: (request: Request) => Promise<Response>;
  close: () => Promise<void>;
}

function createHandler(skills: SkillServer, { token, allowedHosts = [], onNote }: HttpOptions): Handler {
  const limits = { maxRequestBodySize: MAX_HTTP_MESSAGE_BYTES };
  const onerror = (error: Error): void => onNote(error.message);
  const modern = createMcpHandler(() => skills.open(), { ...limits, legacy: 'reject', onerror });
  const sessions = new Sessions(skills);
  const gate = openGate({ token: token || undefined, allowedHosts });
  skills.onChanged(() => {
    modern.notify.toolsChanged();
    modern.notify.resourcesChanged();
  });
  return {
    fetch: async (request) => {
      if (new URL(request.url).pathname !== PATH) return new Response('Not found\n', { status: 404 });
      const entry = await gate(request);
      if (entry instanceof Response) return entry;
      const read = await readLargeRequest(request, skills);
      if (read instanceof Response) return read;
      const { parsedBody } = read ?? {};
      const isLegacy = await isLegacyRequest(request, parsedBody, limits);
      return skills.serving(read?.large, () =>
        isLegacy ? sessions.handle(request, parsedBody) : modern.fetch(request, { ...entry, parsedBody }),
      );
    },
    close: async () => {
      await sessions.close();
      await modern.close();
    },
  };
}

/** An address that others can reach needs a token, and no token is one that can be guessed. */
function assertGuarded(host: string, token: string | undefined): void {
  if (token !== undefined && token.length < MIN_TOKEN) {
    throw new SkillError('usage', `The token has ${token.length} characters; the least is ${MIN_TOKEN}`, {
      fix: 'Make one with: openssl rand -hex 32',
    });
  }
  if (token !== undefined || isLoopback(host)) return;
  throw new SkillError('usage', `Others could reach ${host}, and there is no token`, {
    fix: 'Put a token into a file and name it with --token-file, or leave --host out.',
    detail: { host },
  });
}

function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function cannotListen(host: string, port: number, cause: unknown): SkillError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SkillError('usage', `Cannot listen on ${host}, port ${port}: ${reason}`, {
    fix: 'Choose another port, or 0 for any that is free.',
    cause,
  });
}
