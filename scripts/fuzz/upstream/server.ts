/**
 * A server on loopback that answers `/good` correctly and anything else as configured.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { UpstreamAnswer } from './answers.ts';

const GOOD = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine';

export class Upstream {
  answer: UpstreamAnswer = { pieces: [], ending: 'end' };
  readonly sockets: Set<Socket> = new Set();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
      // A connection that was left open is used again.
      socket.on('data', (chunk) => this.#respond(socket, chunk.toString('latin1')));
    });
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get authority(): string {
    return `127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #respond(socket: Socket, request: string): void {
    if (request.includes(' /good ')) return void socket.end(GOOD);
    const { pieces, ending } = this.answer;
    for (const piece of pieces.slice(0, -1)) socket.write(piece);
    const last = pieces.at(-1) ?? Buffer.alloc(0);
    if (ending === 'end') socket.end(last);
    else if (ending === 'reset') socket.write(last, () => socket.resetAndDestroy());
    else socket.write(last);
  }
}
