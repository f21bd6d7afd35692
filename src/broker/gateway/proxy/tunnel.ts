/**
 * What a native program may do in a tunnel that it asked for with CONNECT. Plain HTTP in it is read like any other
 * request. TLS is either ended here and its requests read, or passed on to the server whose name the client gave twice.
 *
 * @module
 */
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { shownTunnel } from '../checks.ts';
import type { Egress } from '../egress.ts';
import { authorityOf, type Server } from '../request.ts';
import type { Scheme } from '../rules.ts';
import type { CellAuthority } from '../tls/authority.ts';
import { TLS_HANDSHAKE, type Hello, type HelloReader } from '../tls/server-name.ts';
import type { Origin } from './native-request.ts';
import { splice } from './splice.ts';

const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

export interface TunnelOptions {
  egress: Egress;
  /** Ends TLS here, with certificates that the cell trusts; absent: TLS is passed on unread. */
  authority: CellAuthority | undefined;
  /** Finds out whom TLS is meant for. */
  reader: () => HelloReader;
  /** Takes a connection on which requests to one server follow. */
  serve: (socket: Socket, origin: Origin) => void;
}

interface Tunnel {
  server: Server;
  schemes: Set<Scheme>;
  addresses: string[];
  client: Socket;
  /** Gives its place in the budget back. */
  leave: () => void;
}

/** Rejects only as long as nothing has been said to the client; from then on the connection just ends. */
export async function openTunnel(
  server: Server,
  { client, head }: { client: Socket; head: Buffer },
  options: TunnelOptions,
): Promise<void> {
  const { egress } = options;
  const admitted = await egress.checks.tunnel(server);
  const leave = egress.budget.enter();
  const tunnel = { server, client, leave, ...admitted };
  client.once('close', leave);
  if (head.length > 0) client.unshift(head);
  const isPassedOn = !options.authority && !mayBePlain(tunnel);
  // A server that is not there is told at once, as it would be without a proxy.
  const upstream = isPassedOn ? await dial(tunnel, egress) : undefined;
  client.write(ESTABLISHED);
  const inside = upstream ? passOn(tunnel, upstream, options) : serveInside(tunnel, options);
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
  if (isTls && !authority) return passOn(tunnel, await dial(tunnel, egress), options);
  // Each request inside takes its own place.
  leave();
  if (!isTls || !authority) return serve(client, { scheme: 'http', authority: authorityOf(server, 'http') });
  const secured = new TLSSocket(client, { isServer: true, secureContext: authority.contextFor(server.host) });
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

/** TLS goes through unread, once the name in its first bytes is the one that was checked. */
async function passOn(tunnel: Tunnel, upstream: Socket, { egress, reader }: TunnelOptions): Promise<void> {
  const { client, server, leave } = tunnel;
  const { hello, bytes } = await readHello(client, reader());
  // Whoever opens a connection and says nothing has asked for nothing.
  if (bytes.length === 0) {
    client.destroy();
    return;
  }
  if (!hello.isTls || !isServerName(hello.name, server)) {
    upstream.destroy();
    return hello.isTls ? denyName(tunnel, hello.name, egress) : denyPlain(tunnel, egress);
  }
  egress.checks.noteUse(`CONNECT https://${authorityOf(server, 'https')}`);
  client.unshift(bytes);
  splice({ client, server: upstream, budget: egress.budget, onEnd: leave });
}

/** A server that is named by its address has no name to say. */
function isServerName(name: string | undefined, { host }: Server): boolean {
  return isIP(host) ? name === undefined : name?.toLowerCase() === host;
}

function denyPlain(tunnel: Tunnel, egress: Egress): void {
  deny(tunnel, 'no network rule covers it without TLS', egress);
}

function deny({ client, server }: Tunnel, declared: string, egress: Egress): void {
  egress.checks.deny(shownTunnel(server), declared);
  client.destroy();
}

function denyName({ client, server }: Tunnel, name: string | undefined, egress: Egress): void {
  const other = name === undefined ? shownTunnel(server) : shownTunnel({ ...server, host: name });
  const said = name === undefined ? 'its TLS names no server' : `the tunnel is for ${server.host}`;
  egress.checks.deny(other, said);
  client.destroy();
}

/** Everything that was read on the way comes along: it is the server's to read. */
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

/** Undefined at the end. */
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
