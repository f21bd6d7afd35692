/**
 * One request to addresses that were judged before, and the response as it comes. This is the single place where a
 * request leaves, and with it the place where secrets come into it.
 *
 * @module
 */
import {
  request as requestHttp,
  type Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as requestHttps, type Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { BrokerRefusal } from '../../cell/contract.ts';
import type { Target } from '../secrets/audience.ts';
import type { ByteFilter, CellSecrets, RequestHead } from '../secrets/contract.ts';
import { asRefusal } from './failures.ts';
import { hostOf, type HttpRequest } from './request.ts';
import { watchPhases } from './timeouts.ts';

const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
/** Answers such as 103 before the real one; each keeps the connection from being silent. */
const MOST_INTERIM = 32;
/** Of an answer's first line and headers; said here, so that no flag of the host's Node changes it. */
export const MAX_HEAD_BYTES: number = 16 * 1024;
/** Of a body that is searched for placeholders and values in one go. */
const SLICE_BYTES = 64 * 1024;

/** A response whose body has not been read. */
export interface Answer {
  message: IncomingMessage;
  outgoing: ClientRequest;
  /** Of a server that has switched to the protocol that was asked for. */
  upgraded?: { socket: Socket; head: Buffer } | undefined;
}

export interface SendOptions {
  /** Where the connection goes, whatever the name would resolve to by now. */
  addresses: string[];
  /** How long the server may be silent. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Connections of this call alone, and through no proxy that a setting of the host names. */
  agents: { http: HttpAgent; https: HttpsAgent };
  /** Who vouches for servers; absent: whom Node trusts. */
  ca?: string[] | undefined;
  localAddress?: string | undefined;
}

/** A request as it goes on the wire. Checks and records have seen it with placeholders instead of values. */
export interface FilledRequest {
  request: HttpRequest;
  head: RequestHead;
  content: Uint8Array;
}

/** Throws when a placeholder is on its way to a host that its secret is not for. */
export async function fillRequest(
  request: HttpRequest,
  body: Uint8Array,
  secrets: CellSecrets | undefined,
): Promise<FilledRequest> {
  const { url, headers } = request;
  const asked = { ...targetOf(url), path: url.pathname + url.search, headers };
  if (!secrets) return { request, head: asked, content: body };
  const head = secrets.fillHead(asked);
  if (body.length === 0) return { request, head, content: body };
  return { request, head, content: await filtered(body, secrets.bodyFilter(asked)) };
}

/** Slice by slice: others have their turn while a large body is searched. */
async function filtered(body: Uint8Array, filter: ByteFilter): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    if (at > 0) await setImmediate();
    parts.push(filter.push(body.subarray(at, at + SLICE_BYTES)));
  }
  return Buffer.concat([...parts, filter.end()]);
}

export function targetOf(url: URL): Target {
  const isTls = isSecure(url);
  return { host: hostOf(url), port: Number(url.port || (isTls ? 443 : 80)), isTls };
}

/** With headers of the host's own; names of headers are in lower case here. */
export function withHeaders(
  filled: FilledRequest,
  headers: Readonly<Record<string, string>> | undefined,
): FilledRequest {
  if (!headers) return filled;
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  return { ...filled, head: { ...filled.head, headers: { ...filled.head.headers, ...own } } };
}

export async function sendRequest(filled: FilledRequest, options: SendOptions): Promise<Answer> {
  const first = await sendOnce({ ...filled, fresh: false }, options);
  // The server closed a connection that was kept open just when we used it again.
  const isStale = 'refusal' in first && first.isStale;
  const settled = isStale ? await sendOnce({ ...filled, fresh: true }, options) : first;
  if ('refusal' in settled) throw settled.refusal;
  return settled;
}

interface Outgoing extends FilledRequest {
  /** On a connection of its own. */
  fresh: boolean;
}

function sendOnce(
  out: Outgoing,
  options: SendOptions,
): Promise<Answer | { refusal: BrokerRefusal; isStale: boolean }> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof sendOnce>>>();
  const { request } = out;
  const outgoing = open(out, options);
  const fail = (refusal: BrokerRefusal): void =>
    resolve({ refusal, isStale: outgoing.reusedSocket && refusal.code === 'connreset' });
  const abort = (): void => {
    outgoing.destroy(new BrokerRefusal('badf', 'the call is over'));
  };
  if (options.signal.aborted) abort();
  options.signal.addEventListener('abort', abort, { once: true });
  watchPhases(outgoing, request.timeouts, isSecure(request.url));
  outgoing.on('response', (message) => resolve(answer(message, outgoing)));
  let interim = 0;
  outgoing.on('information', () => {
    if (++interim > MOST_INTERIM) outgoing.destroy(new BrokerRefusal('proto', 'too many interim answers'));
  });
  if (isSocketRequest(request.url))
    outgoing.on('upgrade', (message, socket: Socket, head) =>
      resolve({ ...answer(message, outgoing), upgraded: { socket, head } }),
    );
  outgoing.on('timeout', () => outgoing.destroy(new BrokerRefusal('timedout', 'no answer in time')));
  outgoing.on('error', (error) => fail(asRefusal(error)));
  outgoing.on('close', () => {
    options.signal.removeEventListener('abort', abort);
    // For an answer that is none to us, such as a switch of protocols; after a response it changes nothing.
    fail(new BrokerRefusal('proto', 'the server did not answer the request'));
  });
  outgoing.end(out.content);
  return promise;
}

function answer(message: IncomingMessage, outgoing: ClientRequest): Answer {
  // A response that breaks off is told when it is read.
  message.on('error', () => undefined);
  return { message, outgoing };
}

function open({ request, head, content, fresh }: Outgoing, options: SendOptions): ClientRequest {
  const { method, url } = request;
  const hasBody = content.length > 0 || ['POST', 'PUT', 'PATCH'].includes(method);
  const secure = isSecure(url);
  // On a connection that was kept open nobody knows whether a request that failed was read; these may not be repeated.
  const isAlone = fresh || isSocketRequest(url) || !REPEATABLE.has(method);
  const agent = secure ? options.agents.https : options.agents.http;
  const settings: RequestOptions & { rejectUnauthorized: boolean; ca?: string[] } = {
    method,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port || (secure ? 443 : 80),
    path: head.path,
    headers: {
      ...head.headers,
      host: url.host,
      ...(hasBody ? { 'content-length': String(content.length) } : {}),
      ...(isSocketRequest(url) ? { connection: 'Upgrade', upgrade: 'websocket' } : {}),
    },
    lookup: pinnedTo(options.addresses),
    ...leavingFrom(options.localAddress),
    timeout: options.timeoutMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    agent: isAlone ? false : agent,
    rejectUnauthorized: true,
    ...(options.ca ? { ca: options.ca } : {}),
  };
  return secure ? requestHttps(settings) : requestHttp(settings);
}

export function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || url.protocol === 'wss:';
}

export function isSocketRequest(url: URL): boolean {
  return url.protocol === 'ws:' || url.protocol === 'wss:';
}

/** Answers every question for an address with those that were judged. */
export function pinnedTo(addresses: string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, options, done) => {
    const [first = { address: '', family: 0 }] = found;
    if (options.all) done(null, found);
    else done(null, first.address, first.family);
  };
}

export function leavingFrom(localAddress: string | undefined): { localAddress?: string } {
  return localAddress === undefined ? {} : { localAddress };
}
