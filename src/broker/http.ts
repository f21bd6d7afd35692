/**
 * HTTP for cells that have no network. A request is checked against the grant, its host is resolved once, every
 * address is judged, and the connection goes to the judged address alone. Redirects are the guest's to follow, with a
 * request that is checked again.
 *
 * @module
 */
import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { BrokerRefusal, type BrokerReply, type BrokerRequest } from '../cell/contract.ts';
import type { CapabilityEvent } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import { isPublicAddress } from './addresses.ts';
import { readRequest, ruleFor, type HttpRequest } from './http-request.ts';

const MAX_OPEN_BODIES = 32;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_READ_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;

interface Body {
  response: IncomingMessage;
  received: number;
}

interface Records {
  used: CapabilityEvent[];
  denied: CapabilityEvent[];
}

export class HttpBroker {
  readonly #grant: Grant;
  readonly #records: Records;
  readonly #bodies = new Map<number, Body>();
  #next = 0;

  constructor(grant: Grant, records: Records) {
    this.#grant = grant;
    this.#records = records;
  }

  /** Undefined when the request is none about http. */
  handle({ op, args, payload }: BrokerRequest): Promise<BrokerReply> | undefined {
    if (op === 'http') return this.#fetch(readRequest(args), payload ?? new Uint8Array());
    if (op === 'httpRead') return this.#read(args);
    if (op === 'httpClose') return Promise.resolve(this.#close(args['body']));
    return undefined;
  }

  close(): void {
    for (const id of this.#bodies.keys()) this.#close(id);
  }

  async #fetch(request: HttpRequest, body: Uint8Array): Promise<BrokerReply> {
    const shown = `${request.method} ${request.url.href}`.slice(0, 300);
    if (!ruleFor(request, this.#grant.network)) throw this.#deny(shown, 'no network rule covers it');
    if (this.#bodies.size >= MAX_OPEN_BODIES) throw new BrokerRefusal('mfile', 'too many open responses');
    const address = await this.#resolve(request.url.hostname, shown);
    note(this.#records.used, { capability: 'network', asked: shown, declared: 'granted' });
    const response = await send(request, body, address);
    const id = this.#next++;
    this.#bodies.set(id, { response, received: 0 });
    return { value: { status: response.statusCode ?? 0, headers: headerPairs(response), body: id } };
  }

  /** Every address of the name has to be fit, and the one that is used is one of those that were judged. */
  async #resolve(hostname: string, shown: string): Promise<string> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(host) ? [{ address: host }] : await resolveAll(host);
    for (const { address } of addresses) {
      const isNamed = address === host && (this.#grant.privateAddresses ?? []).includes(address);
      if (!isNamed && !isPublicAddress(address)) throw this.#deny(shown, `${address} is no public address`);
    }
    const [first] = addresses;
    if (!first) throw new BrokerRefusal('dns', 'no address');
    return first.address;
  }

  async #read(args: Record<string, unknown>): Promise<BrokerReply> {
    const body = this.#bodies.get(Number(args['body']));
    if (!body) throw new BrokerRefusal('badf', 'no such response');
    const wanted = Math.min(Math.max(1, Number(args['length']) || 1), MAX_READ_BYTES);
    const bytes = await nextBytes(body.response, wanted);
    body.received += bytes.length;
    if (body.received > MAX_RESPONSE_BYTES) throw new BrokerRefusal('toobig', 'the response is too large');
    return { value: {}, payload: bytes };
  }

  #close(id: unknown): BrokerReply {
    this.#bodies.get(Number(id))?.response.destroy();
    this.#bodies.delete(Number(id));
    return { value: {} };
  }

  #deny(asked: string, declared: string): BrokerRefusal {
    note(this.#records.denied, { capability: 'network', asked, declared });
    return new BrokerRefusal('denied', declared);
  }
}

function note(list: CapabilityEvent[], event: CapabilityEvent): void {
  if (list.length < 64 && !list.some(({ asked }) => asked === event.asked)) list.push(event);
}

async function resolveAll(host: string): Promise<{ address: string }[]> {
  try {
    return await lookup(host, { all: true, verbatim: true });
  } catch {
    throw new BrokerRefusal('dns', 'the name cannot be resolved');
  }
}

function send(
  { url, method, headers }: HttpRequest,
  body: Uint8Array,
  address: string,
): Promise<IncomingMessage> {
  const pinned: LookupFunction = (_, options, done) => {
    const family = isIP(address);
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  const options: RequestOptions = {
    method,
    headers: { ...headers, host: url.host, 'content-length': String(body.length), connection: 'close' },
    lookup: pinned,
    timeout: TIMEOUT_MS,
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const outgoing =
      url.protocol === 'https:' ? requestHttps(url, options, resolve) : requestHttp(url, options, resolve);
    outgoing.on('timeout', () => outgoing.destroy(new BrokerRefusal('timedout', 'no answer in time')));
    outgoing.on('error', (error) => reject(asRefusal(error)));
    outgoing.end(body);
  });
}

function asRefusal(error: Error): BrokerRefusal {
  if (error instanceof BrokerRefusal) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code.startsWith('ERR_TLS') || code.includes('CERT')) return new BrokerRefusal('tls', error.message);
  return new BrokerRefusal(code === 'ECONNREFUSED' ? 'connrefused' : 'io', 'the request failed');
}

function headerPairs({ rawHeaders }: IncomingMessage): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return pairs;
}

/** Some bytes of the response, none at its end. */
function nextBytes(response: IncomingMessage, wanted: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const attempt = (): void => {
      const chunk = (response.read(Math.min(wanted, response.readableLength || wanted)) ??
        response.read()) as Buffer | null;
      if (chunk !== null) settle(() => resolve(chunk));
      else if (response.readableEnded || response.destroyed) settle(() => resolve(new Uint8Array()));
    };
    const end = (): void => settle(() => resolve(new Uint8Array()));
    const fail = (): void => settle(() => reject(new BrokerRefusal('io', 'the response broke off')));
    const settle = (done: () => void): void => {
      response.off('readable', attempt).off('end', end).off('error', fail);
      done();
    };
    response.on('readable', attempt).on('end', end).on('error', fail);
    attempt();
  });
}
