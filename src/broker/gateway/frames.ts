/**
 * HTTP for cells that have no network. A request is checked against the grant, its host is resolved once, every
 * address is judged, and the connection goes to the judged address alone. Redirects are the guest's to follow, with a
 * request that is checked again.
 *
 * @module
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { BrokerRefusal, type BrokerReply, type BrokerRequest } from '../../cell/contract.ts';
import type { Grant } from '../../policy/grant.ts';
import { isPublicAddress } from './addresses.ts';
import { nextBytes, sendRequest, type HttpResponse } from './exchange.ts';
import { readRequest, ruleFor, type HttpRequest } from './request.ts';
import type { Records } from '../records.ts';

/** Requests under way and responses that are not read to their end, together. */
const MAX_OPEN = 32;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_READ_BYTES = 1024 * 1024;

export interface HttpOptions {
  /** All addresses of a name. */
  lookup?: (hostname: string) => Promise<string[]>;
  /** How long a server may be silent; in milliseconds. */
  timeoutMs?: number;
}

interface Body {
  response: HttpResponse;
  received: number;
}

export class HttpBroker {
  readonly #grant: Grant;
  readonly #records: Records;
  readonly #lookup: (hostname: string) => Promise<string[]>;
  readonly #timeoutMs: number;
  readonly #bodies = new Map<number, Body>();
  /** Made with the first request: most calls have none. */
  #ended: AbortController | undefined;
  #closed = false;
  #open = 0;
  #next = 0;

  constructor(grant: Grant, records: Records, options: HttpOptions = {}) {
    this.#grant = grant;
    this.#records = records;
    this.#lookup = options.lookup ?? systemLookup;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  /** Undefined when the request is none about http. */
  async handle({ op, args, payload }: BrokerRequest): Promise<BrokerReply | undefined> {
    if (op === 'http') return this.#fetch(readRequest(args), payload ?? new Uint8Array());
    if (op === 'httpRead') return this.#read(args);
    if (op === 'httpClose') return this.#close(args['body']);
    return undefined;
  }

  /** Ends what is under way: nothing of it reaches anybody any more. */
  close(): void {
    this.#closed = true;
    this.#ended?.abort();
    for (const id of this.#bodies.keys()) this.#close(id);
  }

  async #fetch(request: HttpRequest, body: Uint8Array): Promise<BrokerReply> {
    // Without the query, which often carries keys: records are kept for long.
    const shown = `${request.method} ${request.url.origin}${request.url.pathname}`;
    if (!ruleFor(request, this.#grant.network)) throw this.#deny(shown, 'no network rule covers it');
    if (this.#open >= MAX_OPEN) throw new BrokerRefusal('mfile', 'too many open requests');
    this.#open++;
    try {
      const response = await this.#exchange(request, { body, shown });
      const id = this.#next++;
      this.#bodies.set(id, { response, received: 0 });
      return { value: { status: response.status, headers: response.headers, body: id } };
    } catch (error) {
      this.#open--;
      throw error;
    }
  }

  async #exchange(
    request: HttpRequest,
    { body, shown }: { body: Uint8Array; shown: string },
  ): Promise<HttpResponse> {
    const address = await this.#resolve(request.url.hostname, shown);
    if (this.#closed) throw new BrokerRefusal('badf', 'the call is over');
    this.#records.note('used', { capability: 'network', asked: shown, declared: 'granted' });
    this.#ended ??= new AbortController();
    return sendRequest(request, body, { address, timeoutMs: this.#timeoutMs, signal: this.#ended.signal });
  }

  /** Every address of the name has to be fit, and the one that is used is one of those that were judged. */
  async #resolve(hostname: string, shown: string): Promise<string> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(host) ? [host] : await this.#addressesOf(host);
    for (const address of addresses) {
      const isNamed = address === host && (this.#grant.privateAddresses ?? []).includes(address);
      if (!isNamed && !isPublicAddress(address)) throw this.#deny(shown, `${address} is no public address`);
    }
    const [first] = addresses;
    if (first === undefined) throw new BrokerRefusal('dns', 'no address');
    return first;
  }

  async #addressesOf(host: string): Promise<string[]> {
    try {
      return await this.#lookup(host);
    } catch {
      throw new BrokerRefusal('dns', 'the name cannot be resolved');
    }
  }

  async #read(args: Record<string, unknown>): Promise<BrokerReply> {
    const body = this.#bodies.get(Number(args['body']));
    if (!body) throw new BrokerRefusal('badf', 'no such response');
    const wanted = Math.min(Math.max(1, Number(args['length']) || 1), MAX_READ_BYTES);
    const bytes = await nextBytes(body.response, wanted);
    body.received += bytes.length;
    if (body.received > MAX_RESPONSE_BYTES) {
      this.#close(args['body']);
      throw new BrokerRefusal('toobig', 'the response is too large');
    }
    return { value: {}, payload: bytes };
  }

  #close(id: unknown): BrokerReply {
    const body = this.#bodies.get(Number(id));
    if (body && this.#bodies.delete(Number(id))) {
      this.#open--;
      body.response.close();
    }
    return { value: {} };
  }

  #deny(asked: string, declared: string): BrokerRefusal {
    this.#records.note('denied', { capability: 'network', asked, declared });
    return new BrokerRefusal('denied', declared);
  }
}

async function systemLookup(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}
