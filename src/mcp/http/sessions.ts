/**
 * Connections of clients that speak the protocol of 2025: it has sessions, by which a client is told of changes and can
 * take a call back. Later ones send each request on its own.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport, type McpServer } from '@modelcontextprotocol/server';
import { MAX_MESSAGE_BYTES } from '../limits.ts';
import type { SkillServer } from '../skill-server.ts';

/** The one that was not used for longest makes room. Its client is told so, and begins again. */
const MAX_SESSIONS = 256;

interface Session {
  mcp: McpServer;
  transport: WebStandardStreamableHTTPServerTransport;
}

export class Sessions {
  readonly #skills: SkillServer;
  /** In the order of their last use. */
  readonly #open = new Map<string, Session>();

  constructor(skills: SkillServer) {
    this.#skills = skills;
  }

  async handle(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#begin(request);
    const session = this.#open.get(id);
    if (!session) return unknownSession();
    this.#open.delete(id);
    this.#open.set(id, session);
    return session.transport.handleRequest(request);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(({ mcp }) => mcp.close()));
  }

  async #begin(request: Request): Promise<Response> {
    const mcp = this.#skills.open();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#add(id, { mcp, transport }),
      onsessionclosed: (id) => void this.#open.delete(id),
      maxRequestBodySize: MAX_MESSAGE_BYTES,
    });
    await mcp.connect(transport);
    const response = await transport.handleRequest(request);
    // Anything but the opening of a session was refused.
    if (transport.sessionId === undefined) await mcp.close();
    return response;
  }

  #add(id: string, session: Session): void {
    this.#open.set(id, session);
    for (const [oldest, { mcp }] of this.#open) {
      if (this.#open.size <= MAX_SESSIONS) return;
      this.#open.delete(oldest);
      void mcp.close();
    }
  }
}

function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}
