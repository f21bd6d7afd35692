/**
 * The proxy of one native cell: HTTP/1.1 with absolute URLs, CONNECT and WebSocket upgrades. Node parses the requests; each
 * is checked and sent like those of a Wasm cell.
 *
 * @module
 */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { BrokerRefusal } from '../../../cell/contract.ts';
import { nodeHttp } from '../../../node-network.ts';
import { isSocketRequest } from '../exchange.ts';
import type { Egress, HttpResponse } from '../egress.ts';
import { readServer, describeRequest, type HttpRequest } from '../request.ts';
import { createAuthority, type CellAuthority } from '../tls/authority.ts';
import { HelloReader } from '../tls/server-name.ts';
import { readNativeRequest, withoutConnectionHeaders, type Origin } from './native-request.ts';
import { refuse, refuseSocket, responseOn } from './refuse.ts';
import { splice } from './splice.ts';
import { openTunnel } from './tunnel.ts';

/** More than the open requests of a call, because idle connections wait for their next request. */
const MAX_CONNECTIONS = 128;
const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_MS = 10_000;
const CHECKING_MS = 1000;
const MAX_LISTENERS = 30;

export interface ProxyOptions {
  egress: Egress;
  /** Terminates TLS in the proxy; absent: TLS is forwarded uninspected. */
  authority: CellAuthority | undefined;
}

export class Proxy {
  readonly #options: ProxyOptions;
  readonly #server: HttpServer;
  readonly #connections = new Set<Socket>();
  /** The fixed servers of connections inside tunnels. */
  readonly #origins = new WeakMap<Socket, Origin>();

  /** Only for reading hellos, never used to answer; created with the first one. */
  #helloContext: SecureContext | undefined;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#server = nodeHttp().createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(HEADERS_MS, options.egress.timeoutMs),
      requestTimeout: options.egress.timeoutMs,
      connectionsCheckingInterval: CHECKING_MS,
      keepAliveTimeout: options.egress.timeoutMs,
      // A request to upgrade to another protocol is served as a normal request.
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
    // A host without free descriptors cannot accept; that must only affect this connection.
    this.#server.on('error', () => undefined);
    this.#server.on('request', (request, response) => {
      this.#onRequest(request, response).catch(() => response.destroy());
    });
    this.#server.on('upgrade', (request, socket, head) => {
      this.#onUpgrade(request, socket as Socket, head).catch(() => socket.destroy());
    });
    this.#server.on('connect', (request, socket, head) => {
      this.#onConnect(request, socket as Socket, head).catch(() => socket.destroy());
    });
  }

  /** Listens on a unix socket, which exists when this returns. */
  listen(path: string): void {
    this.#server.listen(path);
  }

  /** Closes every connection immediately. */
  close(): void {
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
  }

  #keep(socket: Socket): void {
    this.#connections.add(socket);
    // A tunnel has more listeners than Node's default limit.
    socket.setMaxListeners(MAX_LISTENERS);
    socket.once('close', () => this.#connections.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  async #onRequest(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const request = this.#checked(message);
      const answer = await this.#send(request, message);
      if (response.destroyed) return answer.close();
      passOrClose(answer, response);
    } catch (error) {
      refuse(response, error);
    }
  }

  async #onUpgrade(message: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    try {
      const request = this.#checked(message);
      if (!isSocketRequest(request.url)) throw new BrokerRefusal('inval', 'bad upgrade');
      const answer = await this.#options.egress.send(request, async () => new Uint8Array());
      if (socket.destroyed) return answer.close();
      if (!answer.upgraded) return this.#passPlain(message, socket, answer);
      if (head.length > 0) socket.unshift(head);
      this.#join(socket, answer, answer.upgraded);
    } catch (error) {
      refuseSocket(message, socket, error);
    }
  }

  async #onConnect(message: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const { egress, authority } = this.#options;
    try {
      if (this.#origins.has(client)) throw new BrokerRefusal('inval', 'a tunnel in a tunnel');
      const serve = (socket: Socket, origin: Origin): void => this.#serve(socket, origin);
      const reader = (): HelloReader => this.#helloReader();
      await openTunnel(readServer(message.url), { client, head }, { egress, authority, reader, serve });
    } catch (error) {
      refuseSocket(message, client, error);
    }
  }

  #helloReader(): HelloReader {
    this.#helloContext ??= createAuthority().contextFor('nobody');
    return new HelloReader(this.#helloContext);
  }

  /** Serves requests to one server on this connection. */
  #serve(socket: Socket, origin: Origin): void {
    this.#origins.set(socket, origin);
    this.#server.emit('connection', socket);
  }

  #checked(message: IncomingMessage): HttpRequest {
    const { request, otherHost } = readNativeRequest(message, this.#origins.get(message.socket));
    if (otherHost === undefined) return request;
    this.#options.egress.budget.ask();
    throw this.#options.egress.checks.deny(
      describeRequest(request),
      `its Host header says "${otherHost.slice(0, 100)}"`,
    );
  }

  /** Reads the whole body first: a placeholder may be anywhere in it, and a refused request must not be sent in part. */
  async #send(request: HttpRequest, message: IncomingMessage): Promise<HttpResponse> {
    const { egress } = this.#options;
    const { budget } = egress;
    let held = 0;
    const readBody = async (): Promise<Uint8Array> => {
      const chunks: Buffer[] = [];
      for await (const chunk of message as AsyncIterable<Buffer>) {
        budget.hold(chunk.length);
        held += chunk.length;
        if (held > budget.limits.requestBytes) throw new BrokerRefusal('toobig', 'the request is too large');
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    };
    try {
      return await egress.send(request, readBody);
    } finally {
      budget.release(held);
    }
  }

  #passPlain(message: IncomingMessage, socket: Socket, answer: HttpResponse): void {
    const response = responseOn(message, socket);
    try {
      passOrClose(answer, response);
    } catch (error) {
      // Free the connection for the refusal, because it takes one response at a time.
      response.detachSocket(socket);
      throw error;
    }
  }

  #join(client: Socket, answer: HttpResponse, { socket, head }: NonNullable<HttpResponse['upgraded']>): void {
    const lines = [
      `HTTP/1.1 101 ${answer.statusText}`,
      'connection: Upgrade',
      'upgrade: websocket',
      ...withoutConnectionHeaders(answer.headers).map(([name, value]) => `${name}: ${value}`),
    ];
    client.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    if (head.length > 0) socket.unshift(head);
    const { budget } = this.#options.egress;
    splice({ client, server: socket, budget, onEnd: () => answer.close() });
  }
}

/** Closes the answer on an error before the first byte; the caller reports it to the client. */
function passOrClose(answer: HttpResponse, response: ServerResponse): void {
  try {
    pass(answer, response);
  } catch (error) {
    answer.close();
    throw error;
  }
}

function pass(answer: HttpResponse, response: ServerResponse): void {
  response.sendDate = false;
  response.writeHead(answer.status, answer.statusText, withoutConnectionHeaders(answer.headers).flat());
  // The client should see the head of a stream even while its first bytes are held back.
  response.flushHeaders();
  const covered = (chunks: AsyncIterable<Buffer>): AsyncIterable<Uint8Array> => bodyOf(answer, chunks);
  pipeline(answer.message, covered, response, () => answer.close());
}

/** Joins all received bytes into one chunk, so that single bytes are searched together. */
async function* bodyOf(answer: HttpResponse, chunks: AsyncIterable<Buffer>): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    const { message } = answer;
    const waiting = message.readableLength;
    const more = waiting > 0 ? (message.read(waiting) as Buffer | null) : null;
    const bytes = answer.take(more ? Buffer.concat([chunk, more]) : chunk);
    if (bytes.length > 0) yield bytes;
  }
  const last = answer.rest();
  if (last.length > 0) yield last;
}
