/**
 * The server name in the first bytes of a TLS connection, read by OpenSSL and not by us: a second parser would be one
 * more opinion about where a name begins.
 *
 * @module
 */
import { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';

/** TLS's word for "a handshake follows". No method of HTTP begins with it. */
export const TLS_HANDSHAKE = 0x16;
/** A ClientHello is a few hundred bytes; with the largest key shares in use, a few thousand. */
const MAX_HELLO_BYTES = 64 * 1024;
/** Every group that some client may have sent a share of: one that fits is taken, and no second hello is asked for. */
const GROUPS = 'X25519:P-256:X448:P-384:P-521:X25519MLKEM768:SecP256r1MLKEM768';

/** Looks at the bytes of a client until it knows the name. */
export class ServerNameReader {
  /** Undefined when the client names no server, or speaks no TLS that OpenSSL understands. */
  readonly name: Promise<string | undefined>;
  readonly #input: Duplex;
  readonly #socket: TLSSocket;
  readonly #settle: (name: string | undefined) => void;
  #bytes = 0;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.name = promise;
    this.#settle = (name) => {
      resolve(name);
      this.#socket.destroy();
    };
    // Whatever a server would answer comes after the name; if it comes before, there is no name.
    this.#input = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => {
        this.#settle(undefined);
        done();
      },
    });
    this.#socket = new TLSSocket(this.#input, {
      isServer: true,
      secureContext: createSecureContext({ ecdhCurve: GROUPS, ca: [] }),
      SNICallback: (name, done) => {
        this.#settle(name);
        done(new Error('only the name was wanted'));
      },
    });
    this.#socket.on('error', () => this.#settle(undefined));
    this.#input.on('error', () => this.#settle(undefined));
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_HELLO_BYTES) this.#settle(undefined);
    else if (!this.#input.destroyed) this.#input.push(chunk);
  }

  end(): void {
    this.#settle(undefined);
  }
}
