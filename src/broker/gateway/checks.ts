/**
 * The one set of checks that every request passes, whichever engine it comes from. A rule of the grant has to cover
 * it, its name is resolved once in a call, and every address of the name is judged.
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
import { authorityOf, hostOf, schemeOf, shown, type HttpRequest, type Server } from './request.ts';
import { objectionTo, schemesFor, type Scheme } from './rules.ts';

const SCHEMES: readonly Scheme[] = ['http', 'https', 'ws', 'wss'];

export type Lookup = (hostname: string) => Promise<string[]>;

export interface ChecksOptions {
  grant: Grant;
  records: Records;
  lookup?: Lookup | undefined;
  /** Addresses of the machine itself, asked for with each request. */
  own?: (() => string[]) | undefined;
  /** So many names may be resolved in a call. */
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
    const asked = shown(request);
    const { grant } = this.#options;
    const host = hostOf(request.url);
    const objection = this.#isObserved(host) ? undefined : objectionTo(request, grant.network);
    if (objection !== undefined) throw this.deny(asked, objection);
    return this.#judged(host, asked);
  }

  /** What may be spoken through a tunnel to the server, and where it leads. */
  async tunnel(server: Server): Promise<{ schemes: Set<Scheme>; addresses: string[] }> {
    const asked = shownTunnel(server);
    const schemes = this.#isObserved(server.host)
      ? new Set(SCHEMES)
      : schemesFor(server.host, server.port, this.#options.grant.network);
    if (schemes.size === 0) throw this.deny(asked, 'no network rule covers it');
    return { schemes, addresses: await this.#judged(server.host, asked) };
  }

  /** While needs are recorded, the operator lets hosts be tried that no rule names. */
  #isObserved(host: string): boolean {
    const { hosts = [] } = this.#options.grant.observe ?? {};
    return hosts.some((pattern) => pattern === '*' || hostCovers(pattern, host));
  }

  deny(asked: string, declared: string): Denial {
    // A name in TLS and a Host header are any bytes that the guest likes, and people will read them.
    const event: CapabilityEvent = {
      capability: 'network',
      asked: printableLine(asked),
      declared: printableLine(declared),
    };
    this.#options.records.note('denied', event);
    return new Denial(event);
  }

  noteUse(asked: string): void {
    this.#options.records.note('used', { capability: 'network', asked, declared: 'granted' });
  }

  /** Every address of the name has to be fit: which of them is used is then of no matter. */
  async #judged(host: string, asked: string): Promise<string[]> {
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

  /** Once in a call: a name that changes its mind in between changes nothing. */
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

/** A tunnel in the words of a request: what is asked for inside of it is not known yet. */
export function shownTunnel(server: Server): string {
  const scheme = schemeOf(server.port);
  return `CONNECT ${scheme}://${authorityOf(server, scheme)}`;
}

async function systemLookup(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}
