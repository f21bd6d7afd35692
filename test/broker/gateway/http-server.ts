/**
 * Real servers on loopback, and brokers that may reach them.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import {
  createServer as createRawServer,
  type AddressInfo,
  type Server as RawServer,
  type Socket,
} from 'node:net';
import type { HttpOptions } from '../../../src/broker/gateway/frames.ts';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { Asked, grantOf } from '../support.ts';

export interface Seen {
  method: string;
  url: string;
  headers: [string, string][];
  body: string;
}

export class TestServer implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly sockets: Set<Socket> = new Set();
  readonly #server: Server | RawServer;

  private constructor(server: Server | RawServer) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  static async start(answer: RequestListener): Promise<TestServer> {
    const server = createServer();
    const test = new TestServer(server);
    server.on('request', (request, response) => {
      void readWhole(request).then((body) => {
        test.seen.push(describe(request, body));
        answer(request, response);
      });
    });
    return test.#listen();
  }

  /** Answers every request with these bytes. */
  static async startRaw(answer: (socket: Socket) => void): Promise<TestServer> {
    const server = createRawServer((socket) => socket.once('data', () => answer(socket)));
    return new TestServer(server).#listen();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get authority(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** A broker with one rule for this server. */
  broker(rule: Partial<NetworkRule> = {}, options: HttpOptions = {}): Asked {
    const network: NetworkRule[] = [{ host: '127.0.0.1', port: this.port, scheme: 'http', ...rule }];
    return new Asked(grantOf({ network, privateAddresses: ['127.0.0.1'] }), '/', options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }
}

function describe({ method = '', url = '', rawHeaders }: IncomingMessage, body: string): Seen {
  const headers: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return { method, url, headers, body };
}

async function readWhole(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export function request(authority: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { method: 'GET', scheme: 'http', authority, path: '/', headers: [], ...more };
}

/** The whole body of a response. */
export async function readBody(asked: Asked, body: unknown, length = 65_536): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const { payload = new Uint8Array() } = await asked.reply('httpRead', { body, length });
    if (payload.length === 0) return Buffer.concat(parts);
    parts.push(payload);
  }
}
