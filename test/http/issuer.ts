/**
 * A real issuer of tokens on loopback, with keys of its own.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';

export interface TokenOptions {
  claims?: JWTPayload;
  header?: Record<string, unknown>;
  kid?: string;
  /** Name of the key that signs. */
  key?: string;
}

export class TestIssuer implements AsyncDisposable {
  readonly #server: Server;
  readonly #keys = new Map<string, { privateKey: CryptoKey; jwk: JWK; pem: string }>();
  /** How often the keys were fetched. */
  fetched = 0;
  /** Answers a request for the keys; absent: with the keys. */
  respond: ((response: ServerResponse) => void) | undefined;
  /** Paths that were requested. */
  readonly paths: string[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      this.paths.push(request.url ?? '');
      if (request.url !== '/keys') return response.writeHead(404).end();
      this.fetched++;
      if (this.respond) return this.respond(response);
      return response.setHeader('content-type', 'application/json').end(this.published);
    });
  }

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await issuer.addKey('first');
    issuer.#server.listen(0, '127.0.0.1');
    await once(issuer.#server, 'listening');
    return issuer;
  }

  get published(): string {
    return JSON.stringify({ keys: [...this.#keys.values()].map(({ jwk }) => jwk) });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What the file of tenants says about it. */
  settings(more: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      issuer: this.url,
      audience: 'skillcell',
      jwks: `${this.url}/keys`,
      algorithms: ['RS256'],
      claim: 'org',
      tenants: { 'org-1': 'acme', 'org-2': 'umbrella' },
      scopes: ['call', 'read'],
      ...more,
    };
  }

  async addKey(kid: string, alg = 'RS256'): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    this.#keys.set(kid, { privateKey, jwk, pem: await exportSPKI(publicKey) });
  }

  removeKey(kid: string): void {
    this.#keys.delete(kid);
  }

  /** The public key as text, as it would be used for a forged signature. */
  pem(kid: string): string {
    return this.#keys.get(kid)?.pem ?? '';
  }

  claims(more: JWTPayload = {}): JWTPayload {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: this.url,
      aud: 'skillcell',
      sub: 'user-1',
      org: 'org-1',
      iat: now,
      exp: now + 300,
      ...more,
    };
  }

  async token({ claims, header, key = 'first', kid = key }: TokenOptions = {}): Promise<string> {
    const signer = this.#keys.get(key);
    if (!signer) throw new Error(`No key ${key}`);
    const alg = signer.jwk.alg ?? 'RS256';
    return new SignJWT(this.claims(claims))
      .setProtectedHeader({ alg, kid, ...header })
      .sign(signer.privateKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A token from its parts, with any signature. */
export function assemble(header: object, claims: object, signature = ''): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode(header)}.${encode(claims)}.${signature}`;
}
