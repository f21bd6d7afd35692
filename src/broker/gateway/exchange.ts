/**
 * Sends one request to addresses that were checked before, and returns the response unread. This is the only place where a
 * request leaves the host, and therefore where secrets are inserted.
 *
 * @module
 */
import type { Agent as HttpAgent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { BrokerRefusal } from '../../cell/contract.ts';
import { nodeHttp, nodeHttps } from '../../node-network.ts';
import type { Target } from '../secrets/audience.ts';
import type { ByteFilter, CellSecrets, RequestHead } from '../secrets/contract.ts';
import { toRefusal } from './failures.ts';
import { hostOf, type HttpRequest } from './request.ts';
import { watchPhases } from './timeouts.ts';

const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
/** Interim answers such as 103, each of which would reset the timeout for a silent server. */
const MOST_INTERIM = 32;
/** Limit for the status line and headers of a response; explicit, so that no Node flag of the host changes it. */
export const MAX_HEAD_BYTES: number = 16 * 1024;
/** Bytes of a body that are searched for placeholders and values without a pause. */
const SLICE_BYTES = 64 * 1024;

/** A response whose body has not been read. */
export interface Answer {
  message: IncomingMessage;
  outgoing: ClientRequest;
  /** Set if the server switched to the requested protocol. */
  upgraded?: { socket: Socket; head: Buffer } | undefined;
}

export interface SendOptions {
  /** The connection goes to one of these, whatever the name resolves to now. */
  addresses: string[];
  /** How long the server may be silent. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Connections of this call only, without the host's proxy settings. */
  agents: { http: HttpAgent; https: HttpsAgent };
  /** CA certificates for servers; absent: those that Node trusts. */
  ca?: string[] | undefined;
  localAddress?: string | undefined;
}

/** A request as it is sent. Checks and records saw it with placeholders instead of values. */
export interface FilledRequest {
  request: HttpRequest;
  head: RequestHead;
  content: Uint8Array;
}

/** Throws if a placeholder would go to a host that its secret is not for. */
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
  return { request, head, content: await applyFilter(body, secrets.bodyFilter(asked)) };
}

/** Works in slices, so that the event loop stays responsive while a large body is searched. */
async function applyFilter(body: Uint8Array, filter: ByteFilter): Promise<Uint8Array> {
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

/** Adds headers of the host; names are in lower case. */
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
  // The server closed a kept-alive connection just as it was reused.
  const isStale = 'refusal' in first && first.isStale;
  const settled = isStale ? await sendOnce({ ...filled, fresh: true }, options) : first;
  if ('refusal' in settled) throw settled.refusal;
  return settled;
}

interface Outgoing extends FilledRequest {
  /** Uses a new connection. */
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
  outgoing.on('error', (error) => fail(toRefusal(error)));
  outgoing.on('close', () => {
    options.signal.removeEventListener('abort', abort);
    // For answers that are not a response, such as an unrequested upgrade; has no effect after a response.
    fail(new BrokerRefusal('proto', 'the server did not answer the request'));
  });
  outgoing.end(out.content);
  return promise;
}

function answer(message: IncomingMessage, outgoing: ClientRequest): Answer {
  // An incomplete response is reported when it is read.
  message.on('error', () => undefined);
  return { message, outgoing };
}

function open({ request, head, content, fresh }: Outgoing, options: SendOptions): ClientRequest {
  const { method, url } = request;
  const hasBody = content.length > 0 || ['POST', 'PUT', 'PATCH'].includes(method);
  const secure = isSecure(url);
  // These must not be repeated: on a reused connection, it is unknown whether the server read a request that failed.
  const needsNewConnection = fresh || isSocketRequest(url) || !REPEATABLE.has(method);
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
    agent: needsNewConnection ? false : agent,
    rejectUnauthorized: true,
    ...(options.ca ? { ca: options.ca } : {}),
  };
  return (secure ? nodeHttps() : nodeHttp()).request(settings);
}

function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || url.protocol === 'wss:';
}

export function isSocketRequest(url: URL): boolean {
  return url.protocol === 'ws:' || url.protocol === 'wss:';
}

/** A lookup function that always returns the checked addresses. */
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
