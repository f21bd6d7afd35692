/**
 * The gateway of a native cell, and clients that connect to its socket.
 *
 * @module
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { gatewayOpener } from '../../../src/broker/gateway/cell-gateway.ts';
import type { EgressOptions } from '../../../src/broker/gateway/egress.ts';
import type { CellGateway } from '../../../src/cell/contract.ts';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import type { Grant } from '../../../src/policy/grant.ts';
import { grantOf } from '../support.ts';

export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

export class NativeClient implements Disposable {
  readonly gateway: CellGateway;
  readonly socketPath: string;
  readonly #home: string = mkdtempSync(join(tmpdir(), 'skillcell-gateway-'));

  constructor(
    network: NetworkRule[],
    { folder, ...options }: EgressOptions & { folder?: string } = {},
    grant: Partial<Grant> = {},
  ) {
    const open = gatewayOpener({ home: this.#home, ...options });
    const whole = grantOf({ network, privateAddresses: ['127.0.0.1'], ...grant });
    const place = folder === undefined ? {} : { folder: join(this.#home, folder) };
    this.gateway = open({ grant: whole, placeholders: {}, uid: undefined, ...place });
    this.socketPath = join(this.gateway.folder, 'socket');
  }

  /** A request with an absolute URL, as a client sends it to a proxy. */
  async ask(
    url: string,
    {
      method = 'GET',
      headers = {},
      body,
    }: { method?: string; headers?: OutgoingHttpHeaders; body?: Buffer } = {},
  ): Promise<Reply> {
    const host = new URL(url).host;
    const { socketPath } = this;
    const outgoing = request({ socketPath, method, path: url, headers: { host, ...headers }, agent: false });
    outgoing.end(body);
    return readReply((await once(outgoing, 'response')) as [IncomingMessage]);
  }

  /** Sends these bytes and returns the whole answer as text. */
  async raw(bytes: string): Promise<string> {
    const socket = connect(this.socketPath);
    socket.on('error', () => undefined);
    socket.write(bytes, 'latin1');
    return readAll(socket);
  }

  /** Opens a tunnel, or returns the status of the refusal. */
  async tunnel(authority: string): Promise<Socket | number> {
    const socket = connect(this.socketPath);
    socket.on('error', () => undefined);
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    const status = Number(chunk.toString('latin1').split(' ')[1]);
    if (status === 200) return socket;
    socket.destroy();
    return status;
  }

  async openTunnel(authority: string): Promise<Socket> {
    const socket = await this.tunnel(authority);
    if (typeof socket === 'number') throw new Error(`CONNECT ${authority}: ${socket}`);
    return socket;
  }

  /** Opens TLS through a tunnel, or returns the error. */
  async secure(authority: string, options: ConnectionOptions): Promise<TLSSocket | Error> {
    const socket = connectTls({ socket: await this.openTunnel(authority), ...options });
    const { promise, resolve } = Promise.withResolvers<TLSSocket | Error>();
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', resolve);
    socket.once('close', () => resolve(new Error('closed')));
    return promise;
  }

  [Symbol.dispose](): void {
    this.gateway.close();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

export async function readReply([message]: [IncomingMessage]): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

/** Reads until the other end closes. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** Sends one request on an open connection and returns the response. */
export async function speak(socket: Socket | TLSSocket, lines: string[]): Promise<string> {
  socket.write(`${[...lines, 'connection: close'].join('\r\n')}\r\n\r\n`);
  return readAll(socket);
}
