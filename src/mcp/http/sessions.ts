/**
 * Connections of clients that speak the protocol of 2025: it has sessions, by which a client is told of changes and can
 * take a call back. Later ones send each request on its own.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport, type McpServer } from '@modelcontextprotocol/server';
import { MAX_HTTP_MESSAGE_BYTES } from '../limits.ts';
import type { SkillServer } from '../skill-server.ts';

const MAX_SESSIONS = 256;
/** Of one client: it cannot take all the places. */
const MAX_PER_CLIENT = 64;
/** Whoever has not asked for anything for so long may lose its session to another. Its client is told so, and begins again. */
const IDLE_MS = 10 * 60_000;

interface Session {
  mcp: McpServer;
  transport: WebStandardStreamableHTTPServerTransport;
  client: string;
  /** Nothing came after the opening yet. */
  isUnused: boolean;
  usedAt: number;
  /** Requests that are being answered. */
  active: number;
}

export interface SessionsOptions {
  now?: () => number;
}

export class Sessions {
  readonly #skills: SkillServer;
  readonly #now: () => number;
  /** In the order of their last use. */
  readonly #open = new Map<string, Session>();

  constructor(skills: SkillServer, { now = () => performance.now() }: SessionsOptions = {}) {
    this.#skills = skills;
    this.#now = now;
  }

  /** `parsedBody`: of a large request, which was read already. */
  async handle(request: Request, parsedBody?: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#begin(request, parsedBody);
    const session = this.#open.get(id);
    if (!session) return refusal(404, 'Session not found');
    this.#open.delete(id);
    this.#open.set(id, session);
    session.isUnused = false;
    session.usedAt = this.#now();
    session.active++;
    try {
      return await session.transport.handleRequest(request, { parsedBody });
    } finally {
      session.active--;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(({ mcp }) => mcp.close()));
  }

  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const client = clientOf(request);
    if (!this.#makeRoom(client)) return refusal(503, 'Too many sessions are in use; try again later');
    const mcp = this.#skills.open();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const usedAt = this.#now();
        this.#open.set(id, { mcp, transport, client, isUnused: true, usedAt, active: 0 });
      },
      onsessionclosed: (id) => {
        this.#open.delete(id);
      },
      maxRequestBodySize: MAX_HTTP_MESSAGE_BYTES,
    });
    await mcp.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    // Anything but the opening of a session was refused.
    if (transport.sessionId === undefined) await mcp.close();
    return response;
  }

  /** False when every place is in use: a new client waits, and throws nobody out. */
  #makeRoom(client: string): boolean {
    const own = [...this.#open].filter(([, session]) => session.client === client);
    if (own.length >= MAX_PER_CLIENT) return this.#evictOne(own);
    return this.#open.size < MAX_SESSIONS || this.#evictOne([...this.#open]);
  }

  /** Sessions that were only opened go first, then those that were idle for long; the oldest of them. */
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

/** All have the same token; the name of the program is the best that is known of who asks. */
function clientOf(request: Request): string {
  return (request.headers.get('user-agent') ?? '').slice(0, 200);
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32001, message } }, { status });
}
