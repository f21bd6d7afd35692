/**
 * Connections of a server, of which there are only so many: each takes a descriptor, and cells need some too. A client
 * that begins requests and never ends them gives way to others, oldest connection first; a request that was sent whole
 * is always answered, unless its client does not read the answer. Requests of one connection are worked on one after the
 * other: a few bytes each would otherwise make as many whole answers that wait in memory for somebody to read them.
 *
 * @module
 */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** All connections. */
  most: number;
  /** Connections without a request that was sent whole. */
  mostWaiting: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = { most: 1000, mostWaiting: 500 };
/** How long the head of a request may take to arrive, and all of it; milliseconds. */
export const HEADERS_MS = 10_000;
export const REQUEST_MS = 30_000;
/** How long an answer may wait for its client to read on; milliseconds. */
export const UNREAD_MS = 30_000;
/** Requests that may be sent before the one before them is answered. Usual clients send none. */
export const MOST_AHEAD = 16;
/** Node looks for requests that take too long every 30 s unless it is told otherwise. */
export const CHECK_MS = 1000;

/** Options for `createServer` that go with it. */
export const SERVER_TIMEOUTS: Pick<
  ServerOptions,
  'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval' | 'maxHeaderSize'
> = {
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  connectionsCheckingInterval: CHECK_MS,
  maxHeaderSize: 16 * 1024,
};

interface Connection {
  socket: Socket;
  client: string;
  /** Requests that were sent whole and have not been answered. */
  serving: number;
  /** It has sent a whole request before: kept open for the next one, it is the last to give way. */
  isProven: boolean;
  /** A request is being worked on. */
  isAnswering: boolean;
  /** Begin the work on those that were sent ahead. */
  ahead: (() => void)[];
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export class Connections {
  readonly #limits: ConnectionLimits;
  /** In order of age. */
  readonly #open = new Map<Socket, Connection>();
  #evicted = 0;

  constructor(limits: ConnectionLimits = CONNECTION_LIMITS) {
    this.#limits = limits;
  }

  /** Watches over the connections of a server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
    server.on('request', (request, response) => this.#onRequest(request, response));
    server.setTimeout(UNREAD_MS, (socket: Socket) => this.#onQuiet(socket));
  }

  /** Has the requests of each connection answered one after the other. */
  inTurn(answer: Listener): Listener {
    return (request, response) => {
      const connection = this.#open.get(request.socket);
      if (!connection) return;
      const begin = (): void => {
        connection.isAnswering = true;
        response.once('close', () => {
          connection.isAnswering = false;
          if (!request.socket.destroyed) connection.ahead.shift()?.();
        });
        answer(request, response);
      };
      if (!connection.isAnswering) begin();
      else if (connection.ahead.push(begin) > MOST_AHEAD) this.#drop(connection);
    };
  }

  get count(): number {
    return this.#open.size;
  }

  /** Connections that were closed to make room. */
  get evicted(): number {
    return this.#evicted;
  }

  #onConnection(socket: Socket): void {
    const connection = {
      socket,
      client: clientOf(socket),
      serving: 0,
      isProven: false,
      isAnswering: false,
      ahead: [],
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
    const waiting = [...this.#open.values()].filter(({ serving }) => serving === 0);
    if (this.#open.size <= this.#limits.most && waiting.length <= this.#limits.mostWaiting) return;
    this.#evicted++;
    const others = waiting.filter((one) => one !== connection);
    const unproven = others.filter(({ isProven }) => !isProven);
    const unread = [...this.#open.values()].filter((one) => one.socket.writableLength > 0);
    const victim = [unproven, others, unread].map(oldestOfGreediest).find(Boolean) ?? connection;
    this.#drop(victim);
  }

  #drop({ socket, ahead }: Connection): void {
    ahead.length = 0;
    this.#open.delete(socket);
    socket.destroy();
  }

  /** Nothing came and nothing went. A call may take its time; who does not read, or asks for nothing, has to go. */
  #onQuiet(socket: Socket): void {
    const isAnswering = this.#open.get(socket)?.isAnswering === true;
    if (!isAnswering || socket.writableLength > 0) socket.destroy();
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket);
    if (!connection) return;
    const begin = (): void => {
      if (response.closed) return;
      connection.isProven = true;
      connection.serving++;
      response.once('close', () => connection.serving--);
    };
    if (request.complete || hasNoBody(request)) begin();
    else request.once('end', begin);
  }
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** An address, or the network that an IPv6 client has to itself. */
function clientOf({ remoteAddress = '' }: Socket): string {
  return remoteAddress.includes(':') && !remoteAddress.startsWith('::ffff:')
    ? remoteAddress.split(':').slice(0, 4).join(':')
    : remoteAddress;
}

function oldestOfGreediest(connections: readonly Connection[]): Connection | undefined {
  const counts = new Map<string, number>();
  for (const { client } of connections) counts.set(client, (counts.get(client) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return connections.find(({ client }) => counts.get(client) === most);
}
