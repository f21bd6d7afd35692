/**
 * Reads the server name from the first bytes of a TLS connection with OpenSSL, because a parser of our own could disagree
 * with it.
 *
 * @module
 */
import { Duplex } from 'node:stream';
import type { SecureContext, TLSSocket } from 'node:tls';
import { nodeTls } from '../../../node-network.ts';

/** The TLS record type of a handshake. No HTTP method starts with this byte. */
export const TLS_HANDSHAKE = 0x16;
/** A ClientHello is a few hundred bytes; with the largest key shares in use, a few thousand. */
const MAX_HELLO_BYTES = 64 * 1024;

/** The first message of a client; `name` is undefined if it names no server. */
export type Hello = { isTls: false } | { isTls: true; name: string | undefined };

const NO_TLS: Hello = { isTls: false };

/** Reads the bytes of a client until its hello is complete. */
export class HelloReader {
  readonly hello: Promise<Hello>;
  readonly #input: Duplex;
  readonly #socket: TLSSocket;
  readonly #settle: (hello: Hello) => void;
  #bytes = 0;

  /** OpenSSL needs the context of a server, but its answer is discarded. */
  constructor(secureContext: SecureContext) {
    const { promise, resolve } = Promise.withResolvers<Hello>();
    this.hello = promise;
    this.#settle = (hello) => {
      resolve(hello);
      this.#socket.destroy();
    };
    this.#input = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        // OpenSSL reports the name before it answers, so an answer means that there is none. An alert means that it is not TLS.
        this.#settle(chunk[0] === TLS_HANDSHAKE ? { isTls: true, name: undefined } : NO_TLS);
        done();
      },
    });
    this.#socket = new (nodeTls().TLSSocket)(this.#input, {
      isServer: true,
      secureContext,
      SNICallback: (name, done) => {
        this.#settle({ isTls: true, name });
        done(new Error('only the name is needed'));
      },
    });
    this.#socket.on('error', () => this.#settle(NO_TLS));
    this.#input.on('error', () => this.#settle(NO_TLS));
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_HELLO_BYTES) this.#settle(NO_TLS);
    else if (!this.#input.destroyed) this.#input.push(chunk);
  }

  end(): void {
    this.#settle(NO_TLS);
  }
}
