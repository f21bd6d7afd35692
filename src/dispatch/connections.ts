/**
 * Limits the connections of a server, because each takes a descriptor and cells need some too. When there are too many,
 * connections without a complete request are closed first, oldest first. A complete request is always answered, unless its
 * client does not read the answer. Requests of one connection are handled one after the other; otherwise a few bytes per
 * request could fill the memory with unread answers.
 *
 * @module
 */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** All connections. */
  most: number;
  /** Connections without a complete request. */
  mostWaiting: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = { most: 1000, mostWaiting: 500 };
/** Time limits in milliseconds for the head of a request and for the whole request. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
/** How long an answer may wait for its client to read, in milliseconds. */
export const UNREAD_MS = 30_000;
/** Requests that a client may send before an earlier one is answered. Common clients send none. */
export const MAX_PIPELINED = 16;
/**
 * How long a connection may stay open between two requests. Proxies keep theirs for up to 60 s, and a request on one that the
 * server closes at that moment fails.
 */
const KEEP_ALIVE_MS = 65_000;
/** Interval of Node's check for slow requests; its default is 30 s. */
const CHECK_MS = 1000;

/** Matching options for `createServer`. */
export const SERVER_TIMEOUTS: Pick<
  ServerOptions,
  'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval' | 'maxHeaderSize'
> = {
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: CHECK_MS,
  maxHeaderSize: 16 * 1024,
};

interface Connection {
  socket: Socket;
  client: string;
  /** Complete requests without an answer. */
  serving: number;
  /** Has sent a complete request before, so it is closed last. */
  isProven: boolean;
  /** A request is being handled. */
  isAnswering: boolean;
  /** Start functions of pipelined requests. */
  pipelined: (() => void)[];
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export class Connections {
  readonly #limits: ConnectionLimits;
  /** Oldest first. */
  readonly #open = new Map<Socket, Connection>();
  #evicted = 0;

  constructor(limits: ConnectionLimits = CONNECTION_LIMITS) {
    this.#limits = limits;
  }

  /** Limits the connections of a server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
    server.on('request', (request, response) => this.#onRequest(request, response));
    server.setTimeout(UNREAD_MS, (socket: Socket) => this.#onIdle(socket));
  }

  /** Answers the requests of each connection one after the other. */
  inTurn(answer: Listener): Listener {
    return (request, response) => {
      const connection = this.#open.get(request.socket);
      if (!connection) return;
      const begin = (): void => {
        connection.isAnswering = true;
        response.once('close', () => {
          connection.isAnswering = false;
          if (!request.socket.destroyed) connection.pipelined.shift()?.();
        });
        answer(request, response);
      };
      if (!connection.isAnswering) begin();
      else if (connection.pipelined.push(begin) > MAX_PIPELINED) this.#drop(connection);
    };
  }

  get count(): number {
    return this.#open.size;
  }

  /** Number of connections that were closed to make room. */
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
      pipelined: [],
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

  #drop({ socket, pipelined }: Connection): void {
    pipelined.length = 0;
    this.#open.delete(socket);
    socket.destroy();
  }

  /** Closes an idle connection, unless its request is being handled and its client reads the answer. */
  #onIdle(socket: Socket): void {
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

/** The IPv4 address, or the /64 network of an IPv6 client. */
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
