/**
 * Sessions of clients that speak the 2025 protocol, which needs them to notify clients of changes and to cancel calls. In
 * later versions each request is independent.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport, type McpServer } from '@modelcontextprotocol/server';
import { MAX_HTTP_MESSAGE_BYTES } from '../limits.ts';
import type { SkillServer } from '../skill-server.ts';

const MAX_SESSIONS = 256;
/** Per token, so that its owner cannot use up all sessions, however many programs it claims to be. */
const MAX_PER_OWNER = 128;
/** Per program of a token, so that one that keeps opening sessions leaves some to the others. */
const MAX_PER_CLIENT = 64;
/** A session idle for this long may be evicted. Its client gets "Session not found" and opens a new one. */
const IDLE_MS = 10 * 60_000;

interface Session {
  mcp: McpServer;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Owner of the token that opened it. Only that owner can use it. */
  owner: string;
  client: string;
  /** No request has followed the opening one. */
  isUnused: boolean;
  usedAt: number;
  /** Requests whose responses are not complete, including open event streams. */
  active: number;
}

export interface SessionRequest {
  /** Owner of the token in the request. */
  owner: string;
  /** Body of a large request, which has already been read. */
  parsedBody?: unknown;
}

export interface SessionsOptions {
  now?: () => number;
}

export class Sessions {
  readonly #skills: SkillServer;
  readonly #now: () => number;
  /** In order of last use. */
  readonly #open = new Map<string, Session>();

  constructor(skills: SkillServer, { now = () => performance.now() }: SessionsOptions = {}) {
    this.#skills = skills;
    this.#now = now;
  }

  async handle(request: Request, { owner, parsedBody }: SessionRequest): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#begin(request, { owner, parsedBody });
    const session = this.#open.get(id);
    // The same answer in both cases, so that only the owner learns whether a session exists.
    if (session?.owner !== owner) return refusal(404, 'Session not found');
    this.#open.delete(id);
    this.#open.set(id, session);
    session.isUnused = false;
    const end = this.#useOf(session);
    try {
      return untilSent(await session.transport.handleRequest(request, { parsedBody }), end);
    } catch (error) {
      end();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(({ mcp }) => mcp.close()));
  }

  /** Records the start of a use; the returned function ends it, once. */
  #useOf(session: Session): () => void {
    session.usedAt = this.#now();
    session.active++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      session.active--;
      session.usedAt = this.#now();
    };
  }

  async #begin(request: Request, { owner, parsedBody }: SessionRequest): Promise<Response> {
    const client = clientOf(request);
    if (!this.#makeRoom(owner, client)) return refusal(503, 'Too many sessions; try again later');
    const mcp = this.#skills.open();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const usedAt = this.#now();
        this.#open.set(id, { mcp, transport, owner, client, isUnused: true, usedAt, active: 0 });
      },
      onsessionclosed: (id) => {
        this.#open.delete(id);
      },
      maxRequestBodySize: MAX_HTTP_MESSAGE_BYTES,
    });
    await mcp.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    // The request was not an opening one and was rejected.
    if (transport.sessionId === undefined) await mcp.close();
    return response;
  }

  /** Returns false if all sessions are in use: active ones are never evicted for a new client. */
  #makeRoom(owner: string, client: string): boolean {
    const own = [...this.#open].filter(([, session]) => session.owner === owner);
    const sameClient = own.filter(([, session]) => session.client === client);
    if (sameClient.length >= MAX_PER_CLIENT) return this.#evictOne(sameClient);
    if (own.length >= MAX_PER_OWNER) return this.#evictOne(own);
    return this.#open.size < MAX_SESSIONS || this.#evictOne([...this.#open]);
  }

  /** Evicts the oldest session that was never used, otherwise the oldest that is idle. */
  #evictOne(candidates: [string, Session][]): boolean {
    const idleSince = this.#now() - IDLE_MS;
    const found =
      candidates.find(([, { isUnused }]) => isUnused) ??
      candidates.find(([, { active, usedAt }]) => active === 0 && usedAt < idleSince);
    if (!found) return false;
    const [id, { mcp }] = found;
    this.#open.delete(id);
    mcp.close().catch(() => undefined);
    return true;
  }
}

/**
 * Distinguishes programs that share a token by their user agent, so that one that keeps opening sessions does not use up the
 * others' share. Access is decided only by the owner of a session.
 */
function clientOf(request: Request): string {
  return (request.headers.get('user-agent') ?? '').slice(0, 200);
}

/** The same response; calls `end` when its body is complete, fails, or is no longer read. */
function untilSent(response: Response, end: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    end();
    return response;
  }
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel: (reason) => {
      end();
      return reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32001, message } }, { status });
}
