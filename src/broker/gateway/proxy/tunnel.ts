/**
 * Handles a tunnel that a native program opened with CONNECT. Plain HTTP inside is handled like any other request. TLS is
 * either terminated here and its requests handled, or forwarded to the server if both CONNECT and TLS name it.
 *
 * @module
 */
import { isIP, type Socket } from 'node:net';
import { nodeTls } from '../../../node-network.ts';
import { describeTunnel } from '../checks.ts';
import type { Egress } from '../egress.ts';
import { authorityOf, type Server } from '../request.ts';
import type { Scheme } from '../../../vocabulary/network-schemes.ts';
import type { CellAuthority } from '../tls/authority.ts';
import { TLS_HANDSHAKE, type Hello, type HelloReader } from '../tls/server-name.ts';
import type { Origin } from './native-request.ts';
import { splice } from './splice.ts';

const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

export interface TunnelOptions {
  egress: Egress;
  /** Terminates TLS here, with certificates that the cell trusts; absent: TLS is forwarded uninspected. */
  authority: CellAuthority | undefined;
  /** Reads the server name of TLS. */
  reader: () => HelloReader;
  /** Handles a connection with requests to one server. */
  serve: (socket: Socket, origin: Origin) => void;
}

interface Tunnel {
  server: Server;
  schemes: Set<Scheme>;
  addresses: string[];
  client: Socket;
  /** Releases its slot in the budget. */
  leave: () => void;
}

/** Rejects only before the first answer to the client; later errors close the connection. */
export async function openTunnel(
  server: Server,
  { client, head }: { client: Socket; head: Buffer },
  options: TunnelOptions,
): Promise<void> {
  const { egress } = options;
  egress.budget.ask();
  const admitted = await egress.checks.tunnel(server);
  const leave = egress.budget.enter();
  const tunnel = { server, client, leave, ...admitted };
  client.once('close', leave);
  if (head.length > 0) client.unshift(head);
  const isForwarded = !options.authority && !mayBePlain(tunnel);
  // Connect first, so that an unreachable server is reported immediately, as without a proxy.
  const upstream = isForwarded ? await dial(tunnel, egress) : undefined;
  client.write(ESTABLISHED);
  const inside = upstream ? forward(tunnel, upstream, options) : serveInside(tunnel, options);
  await inside.catch(() => client.destroy());
}

async function dial({ client, server, addresses }: Tunnel, egress: Egress): Promise<Socket> {
  const upstream = await egress.dial(server.port, addresses);
  if (client.destroyed) upstream.destroy();
  client.once('close', () => upstream.destroy());
  return upstream;
}

function mayBePlain({ schemes }: Tunnel): boolean {
  return schemes.has('http') || schemes.has('ws');
}

function maybeSecure({ schemes }: Tunnel): boolean {
  return schemes.has('https') || schemes.has('wss');
}

async function serveInside(tunnel: Tunnel, options: TunnelOptions): Promise<void> {
  const { client, server, leave } = tunnel;
  const { egress, authority, serve } = options;
  const first = await nextChunk(client);
  if (first === undefined) return;
  client.unshift(first);
  const isTls = first[0] === TLS_HANDSHAKE;
  if (!isTls && !mayBePlain(tunnel)) return denyPlain(tunnel, egress);
  if (isTls && !maybeSecure(tunnel)) return deny(tunnel, 'no network rule covers TLS to it', egress);
  if (isTls && !authority) return forward(tunnel, await dial(tunnel, egress), options);
  // Each request inside takes its own slot.
  leave();
  if (!isTls || !authority) return serve(client, { scheme: 'http', authority: authorityOf(server, 'http') });
  const secured = new (nodeTls().TLSSocket)(client, {
    isServer: true,
    secureContext: authority.contextFor(server.host),
  });
  secured.on('error', () => client.destroy());
  secured.once('secure', () => {
    try {
      const named = (secured as { servername?: string | false | null }).servername || undefined;
      if (isServerName(named, server))
        serve(secured, { scheme: 'https', authority: authorityOf(server, 'https') });
      else denyName(tunnel, named, egress);
    } catch {
      client.destroy();
    }
  });
}

/** Forwards TLS uninspected if the name in its first bytes is the checked one. */
async function forward(tunnel: Tunnel, upstream: Socket, { egress, reader }: TunnelOptions): Promise<void> {
  const { client, server, leave } = tunnel;
  const { hello, bytes } = await readHello(client, reader());
  // A client that sent nothing made no request, so there is nothing to deny.
  if (bytes.length === 0) {
    client.destroy();
    return;
  }
  if (!hello.isTls || !isServerName(hello.name, server)) {
    upstream.destroy();
    return hello.isTls ? denyName(tunnel, hello.name, egress) : denyPlain(tunnel, egress);
  }
  egress.checks.recordUse(`CONNECT https://${authorityOf(server, 'https')}`);
  client.unshift(bytes);
  splice({ client, server: upstream, budget: egress.budget, onEnd: leave });
}

/** TLS to an address carries no server name. */
function isServerName(name: string | undefined, { host }: Server): boolean {
  return isIP(host) ? name === undefined : name?.toLowerCase() === host;
}

function denyPlain(tunnel: Tunnel, egress: Egress): void {
  deny(tunnel, 'no network rule covers it without TLS', egress);
}

function deny({ client, server }: Tunnel, declared: string, egress: Egress): void {
  egress.checks.deny(describeTunnel(server), declared);
  client.destroy();
}

function denyName({ client, server }: Tunnel, name: string | undefined, egress: Egress): void {
  const other = name === undefined ? describeTunnel(server) : describeTunnel({ ...server, host: name });
  const declared = name === undefined ? 'its TLS names no server' : `the tunnel is for ${server.host}`;
  egress.checks.deny(other, declared);
  client.destroy();
}

/** Also returns the bytes that were read, because they belong to the server. */
async function readHello(client: Socket, reader: HelloReader): Promise<{ hello: Hello; bytes: Buffer }> {
  const seen: Buffer[] = [];
  const onReadable = (): void => {
    for (let chunk = client.read() as Buffer | null; chunk !== null; chunk = client.read() as Buffer | null) {
      seen.push(chunk);
      reader.push(chunk);
    }
  };
  const onEnd = (): void => reader.end();
  client.on('readable', onReadable).on('end', onEnd).on('close', onEnd);
  onReadable();
  const hello = await reader.hello;
  client.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
  return { hello, bytes: Buffer.concat(seen) };
}

/** Returns undefined at the end. */
function nextChunk(socket: Socket): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const settle = (chunk: Buffer | undefined): void => {
    socket.off('readable', attempt).off('end', attempt).off('close', attempt);
    resolve(chunk);
  };
  const attempt = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk !== null) settle(chunk);
    else if (socket.readableEnded || socket.destroyed) settle(undefined);
  };
  socket.on('readable', attempt).on('end', attempt).on('close', attempt);
  attempt();
  return promise;
}
