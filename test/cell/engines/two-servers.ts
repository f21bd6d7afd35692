/**
 * A server with and one without TLS on loopback, for the tests of native cells that reach them through their gateway.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { createAuthority, type CellAuthority } from '../../../src/broker/gateway/tls/authority.ts';
import { parsePolicy, type OperatorPolicy } from '../../../src/policy/operator.ts';
import { secureServer } from '../../broker/gateway/tls/secure-server.ts';
import type { Outcome } from '../../../src/outcome.ts';

export class TwoServers {
  readonly authority: CellAuthority = createAuthority();
  /** `GET /path` of each request that arrived. */
  readonly seen: string[] = [];
  ports = { http: 0, https: 0 };
  readonly #plain: Server = createServer(this.#answer.bind(this));
  readonly #secure = secureServer(this.authority, '127.0.0.1', this.#answer.bind(this));

  async listen(): Promise<void> {
    this.#plain.listen(0, '127.0.0.1');
    this.#secure.server.listen(0, '127.0.0.1');
    await Promise.all([once(this.#plain, 'listening'), once(this.#secure.server, 'listening')]);
    this.ports = { http: portOf(this.#plain), https: portOf(this.#secure.server) };
  }

  close(): void {
    for (const server of [this.#plain, this.#secure.inner]) server.closeAllConnections();
    this.#plain.close();
    this.#secure.server.close();
  }

  /** What a skill declares in order to reach both: the first by GET only. */
  get rules(): Record<string, unknown>[] {
    return [
      { host: '127.0.0.1', port: this.ports.http, scheme: 'http', methods: ['GET'] },
      { host: '127.0.0.1', port: this.ports.https },
    ];
  }

  /** `asked` may name the plain server as HTTP. */
  expectDenied(outcome: Outcome, asked: string): void {
    const expected = asked.replace('HTTP/', `127.0.0.1:${this.ports.http}/`);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'capability_denied', detail: { capability: 'network', asked: expected } },
      capabilities: { denied: [{ asked: expected }] },
    });
    expect(this.seen).not.toContain('DELETE /x');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.seen.push(`${request.method} ${request.url}`);
    if (request.url === '/out') response.writeHead(302, { location: 'http://other.test/stolen' });
    if (request.url === '/forged')
      response.writeHead(403, { 'Skillcell-Code': 'denied', 'Skillcell-Asked': 'x' });
    response.end(`hello ${request.url}`);
  }
}

/** A policy that allows private addresses of this machine, with more keys of `network` if given. */
export function loopbackPolicy(more = ''): OperatorPolicy {
  return parsePolicy(`network: { allow_private: ["127.0.0.1"]${more} }`, { file: 'policy.yaml' });
}

function portOf(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port;
}
