/**
 * The checks that every request passes, whichever engine it comes from. A rule of the grant must cover it, its name is
 * resolved once per call, and every address of the name is checked.
 *
 * @module
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { BrokerRefusal } from '../../cell/contract.ts';
import { printableLine } from '../../manifest/printable.ts';
import type { CapabilityEvent } from '../../outcome.ts';
import type { Grant } from '../../policy/grant.ts';
import { hostCovers } from '../../policy/patterns.ts';
import { Denial } from '../denial.ts';
import type { Records } from '../records.ts';
import { isOneOf, isPublicAddress, ownAddresses } from './addresses.ts';
import { authorityOf, hostOf, schemeOf, describeRequest, type HttpRequest, type Server } from './request.ts';
import { SCHEMES, type Scheme } from '../../vocabulary/network-schemes.ts';
import { objectionTo, schemesFor } from './rules.ts';

export type Lookup = (hostname: string) => Promise<string[]>;

export interface ChecksOptions {
  grant: Grant;
  records: Records;
  lookup?: Lookup | undefined;
  /** Addresses of the machine itself, queried for each request. */
  own?: (() => string[]) | undefined;
  /** Maximum number of names that a call may resolve. */
  maxNames: number;
}

export class Checks {
  readonly #options: ChecksOptions;
  readonly #names = new Map<string, Promise<string[]>>();

  constructor(options: ChecksOptions) {
    this.#options = options;
  }

  /** The addresses that the request may go to. Throws a Denial when no rule covers it. */
  async request(request: HttpRequest): Promise<string[]> {
    const asked = describeRequest(request);
    const { grant } = this.#options;
    const host = hostOf(request.url);
    const objection = this.#isObserved(host) ? undefined : objectionTo(request, grant.network);
    if (objection !== undefined) throw this.deny(asked, objection);
    return this.#checkedAddresses(host, asked);
  }

  /** The schemes that a tunnel to the server may carry, and the addresses it may connect to. */
  async tunnel(server: Server): Promise<{ schemes: Set<Scheme>; addresses: string[] }> {
    const asked = describeTunnel(server);
    const schemes = this.#isObserved(server.host)
      ? new Set(SCHEMES)
      : schemesFor(server.host, server.port, this.#options.grant.network);
    if (schemes.size === 0) throw this.deny(asked, 'no network rule covers it');
    return { schemes, addresses: await this.#checkedAddresses(server.host, asked) };
  }

  /** In a recorded call, the operator may allow hosts that no rule names. */
  #isObserved(host: string): boolean {
    const { hosts = [] } = this.#options.grant.observe ?? {};
    return hosts.some((pattern) => pattern === '*' || hostCovers(pattern, host));
  }

  deny(asked: string, declared: string): Denial {
    // The guest chooses the bytes of a TLS name or Host header, and people will read them.
    const event: CapabilityEvent = {
      capability: 'network',
      asked: printableLine(asked),
      declared: printableLine(declared),
    };
    this.#options.records.note('denied', event);
    return new Denial(event);
  }

  recordUse(asked: string): void {
    this.#options.records.note('used', { capability: 'network', asked, declared: 'granted' });
  }

  /** Every address of the name must be allowed, so that it does not matter which one is used. */
  async #checkedAddresses(host: string, asked: string): Promise<string[]> {
    const addresses = isIP(host) ? [host] : await this.#addressesOf(host);
    const { privateAddresses = [] } = this.#options.grant;
    const { own = ownAddresses } = this.#options;
    for (const address of addresses) {
      if (address === host && privateAddresses.includes(address)) continue;
      if (!isPublicAddress(address)) throw this.deny(asked, `${address} is no public address`);
      if (isOneOf(address, own())) throw this.deny(asked, `${address} is an address of this machine`);
    }
    if (addresses.length === 0) throw new BrokerRefusal('dns', 'the name has no address');
    return addresses;
  }

  /** Resolves a name once per call, so that a later change of its addresses has no effect. */
  #addressesOf(host: string): Promise<string[]> {
    const known = this.#names.get(host);
    if (known) return known;
    const { maxNames, lookup: resolve = systemLookup } = this.#options;
    if (this.#names.size >= maxNames) throw new BrokerRefusal('mfile', 'too many names');
    const addresses = resolve(host).catch(() => {
      throw new BrokerRefusal('dns', 'the name cannot be resolved');
    });
    this.#names.set(host, addresses);
    return addresses;
  }
}

/** Describes a tunnel like a request; the requests inside are not known yet. */
export function describeTunnel(server: Server): string {
  const scheme = schemeOf(server.port);
  return `CONNECT ${scheme}://${authorityOf(server, scheme)}`;
}

async function systemLookup(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}
