/**
 * An https server with a certificate from the test's own authority.
 *
 * @module
 */
import { createServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer as createRawServer, type Server } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { CellAuthority } from '../../../../src/broker/gateway/tls/authority.ts';

/** The certificate is always the one for `host`, whatever name a client sends. */
export function secureServer(
  authority: CellAuthority,
  host: string,
  answer: RequestListener,
): { server: Server; inner: HttpServer } {
  const inner = createServer(answer);
  const server = createRawServer((socket) => {
    const secured = new TLSSocket(socket, { isServer: true, secureContext: authority.contextFor(host) });
    secured.on('error', () => socket.destroy());
    inner.emit('connection', secured);
  });
  return { server, inner };
}
