/**
 * The server name in the first bytes of a TLS connection, read by OpenSSL and not by us: a second parser would be one
 * more opinion about where a name begins.
 *
 * @module
 */
import { Duplex } from 'node:stream';
import { TLSSocket, type SecureContext } from 'node:tls';

/** TLS's word for "a handshake follows". No method of HTTP begins with it. */
export const TLS_HANDSHAKE = 0x16;
/** A ClientHello is a few hundred bytes; with the largest key shares in use, a few thousand. */
const MAX_HELLO_BYTES = 64 * 1024;

/** What a client says first. Without a name when it names no server. */
export type Hello = { isTls: false } | { isTls: true; name: string | undefined };

const NO_TLS: Hello = { isTls: false };

/** Looks at the bytes of a client until it knows what they say. */
export class HelloReader {
  readonly hello: Promise<Hello>;
  readonly #input: Duplex;
  readonly #socket: TLSSocket;
  readonly #settle: (hello: Hello) => void;
  #bytes = 0;

  /** The context is that of a server who would answer; its answer goes nowhere. */
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
        // OpenSSL asks for the name before it answers at all. An alert says that it was no TLS.
        this.#settle(chunk[0] === TLS_HANDSHAKE ? { isTls: true, name: undefined } : NO_TLS);
        done();
      },
    });
    this.#socket = new TLSSocket(this.#input, {
      isServer: true,
      secureContext,
      SNICallback: (name, done) => {
        this.#settle({ isTls: true, name });
        done(new Error('only the name was wanted'));
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
