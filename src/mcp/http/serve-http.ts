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
import { Connections, SERVER_TIMEOUTS, SkillError, isLoopback } from '../../inside.ts';
import { MAX_HTTP_MESSAGE_BYTES } from '../limits.ts';
import type { SkillServer } from '../skill-server.ts';
import { openGate } from './gate.ts';
import { readLargeRequest } from './read-request.ts';
import { Sessions } from './sessions.ts';

const PATH = '/mcp';
const MIN_TOKEN = 16;
/** The owner of all sessions if no token is required. */
const ANYONE = 'anyone';
const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Options of `serveOverHttp`. */
export interface HttpOptions {
  /** 0 picks a free port. */
  port: number;
  /** The address to listen on. */
  host?: string;
  /**
   * Token that clients must send. Required unless `host` is a loopback address. On loopback, a token is generated if absent;
   * `false` lets every program on this machine connect.
   */
  token?: string | false | undefined;
  /** Host names that clients may use, in addition to the loopback and `host`. */
  allowedHosts?: readonly string[];
  onNote: (text: string) => void;
}

/** An MCP server that listens on HTTP. */
export interface HttpService extends AsyncDisposable {
  url: string;
  /** Token that clients must send; absent if none is required. */
  token?: string;
  close: () => Promise<void>;
}

/** Serves skills as MCP tools over Streamable HTTP. */
export async function serveOverHttp(skills: SkillServer, options: HttpOptions): Promise<HttpService> {
  const { host = '127.0.0.1', port, allowedHosts = [] } = options;
  assertGuarded(host, options.token || undefined);
  const token = options.token === false ? undefined : (options.token ?? randomBytes(32).toString('hex'));
  // No client uses the "all addresses" address as a host name.
  const ownName = UNSPECIFIED.has(host) ? [] : [bracketed(host)];
  const handler = createHandler(skills, { ...options, token, allowedHosts: [...allowedHosts, ...ownName] });
  const listener = getRequestListener(handler.fetch, { overrideGlobalObjects: false });
  const connections = new Connections();
  const answer = connections.inTurn((incoming, outgoing) => {
    // An error after the response has started can only close the connection.
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
    // Calls end first, so that waiting clients still get an answer.
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
        isLegacy
          ? sessions.handle(request, { owner: entry.authInfo?.clientId ?? ANYONE, parsedBody })
          : modern.fetch(request, { ...entry, parsedBody }),
      );
    },
    close: async () => {
      await sessions.close();
      await modern.close();
    },
  };
}

/** Requires a token beyond loopback, and refuses one short enough to guess. */
function assertGuarded(host: string, token: string | undefined): void {
  if (token !== undefined && token.length < MIN_TOKEN) {
    throw new SkillError('usage', `The token has ${token.length} characters; the minimum is ${MIN_TOKEN}`, {
      fix: 'Create one with: openssl rand -hex 32',
    });
  }
  if (token !== undefined || isLoopback(host)) return;
  throw new SkillError(
    'usage',
    `The address "${host}" is reachable from other machines, but no token is set`,
    {
      fix: 'Write a token to a file and pass it with --token-file, or omit --host.',
      detail: { host },
    },
  );
}

function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function cannotListen(host: string, port: number, cause: unknown): SkillError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SkillError('usage', `Cannot listen on "${host}", port ${port}: ${reason}`, {
    fix: 'Choose another port, or 0 to pick a free one.',
    cause,
  });
}
