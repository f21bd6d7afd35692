/**
 * One request to one address that was judged before, and the response as it comes.
 *
 * @module
 */
import {
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { BrokerRefusal } from '../../cell/contract.ts';
import type { HttpRequest } from './request.ts';
import { startTimer, watchPhases } from './timeouts.ts';

export interface HttpResponse {
  status: number;
  headers: [string, string][];
  message: IncomingMessage;
  /** How long the guest wants to wait for more of the body; in milliseconds. */
  betweenBytesMs: number | undefined;
  close(): void;
}

export interface SendOptions {
  /** Where the connection goes, whatever the name would resolve to by now. */
  address: string;
  /** How long the server may be silent. */
  timeoutMs: number;
  signal: AbortSignal;
}

export function sendRequest(
  request: HttpRequest,
  body: Uint8Array,
  options: SendOptions,
): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  const outgoing = open(request, body, options);
  const abort = (): void => void outgoing.destroy(new BrokerRefusal('badf', 'the call is over'));
  options.signal.addEventListener('abort', abort, { once: true });
  watchPhases(outgoing, request.timeouts, request.url.protocol === 'https:');
  outgoing.on('response', (message) =>
    resolve({ ...describe(message, outgoing), betweenBytesMs: request.timeouts.betweenBytes }),
  );
  outgoing.on('timeout', () => outgoing.destroy(new BrokerRefusal('timedout', 'no answer in time')));
  outgoing.on('error', (error) => reject(asRefusal(error)));
  outgoing.on('close', () => {
    options.signal.removeEventListener('abort', abort);
    // For an answer that is none to us, such as a switch of protocols; after a response it changes nothing.
    reject(new BrokerRefusal('proto', 'the server did not answer the request'));
  });
  outgoing.end(body);
  return promise;
}

function open({ url, method, headers }: HttpRequest, body: Uint8Array, options: SendOptions): ClientRequest {
  const hasBody = body.length > 0 || ['POST', 'PUT', 'PATCH'].includes(method);
  const settings: RequestOptions & { rejectUnauthorized: boolean } = {
    method,
    headers: {
      ...headers,
      host: url.host,
      ...(hasBody ? { 'content-length': String(body.length) } : {}),
      connection: 'close',
    },
    lookup: pinnedTo(options.address),
    timeout: options.timeoutMs,
    // No connection outlives its request, and no setting of the host sends it through a proxy.
    agent: false,
    rejectUnauthorized: true,
  };
  return url.protocol === 'https:' ? requestHttps(url, settings) : requestHttp(url, settings);
}

function pinnedTo(address: string): LookupFunction {
  const family = isIP(address);
  return (_, options, done) => {
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

function describe(message: IncomingMessage, outgoing: ClientRequest): Omit<HttpResponse, 'betweenBytesMs'> {
  // A response that breaks off is told when it is read.
  message.on('error', () => undefined);
  return {
    status: message.statusCode ?? 0,
    headers: headerPairs(message),
    message,
    close: () => {
      message.destroy();
      outgoing.destroy();
    },
  };
}

function headerPairs({ rawHeaders }: IncomingMessage): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return pairs;
}

const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connrefused',
  ECONNRESET: 'connreset',
  EPIPE: 'pipe',
  EHOSTUNREACH: 'hostunreach',
  ENETUNREACH: 'netunreach',
  ETIMEDOUT: 'timedout',
};

function asRefusal(error: Error): BrokerRefusal {
  if (error instanceof BrokerRefusal) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code.includes('CERT') || code.startsWith('ERR_TLS'))
    return new BrokerRefusal('cert', 'no valid certificate');
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return new BrokerRefusal('tls', 'TLS failed');
  if (code.startsWith('HPE_')) return new BrokerRefusal('proto', 'the server does not speak HTTP');
  return new BrokerRefusal(CODES[code] ?? 'io', 'the request failed');
}

/** Some bytes of the response, none at its end. */
export function nextBytes(response: HttpResponse, wanted: number): Promise<Uint8Array> {
  const { message, betweenBytesMs } = response;
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const settle = (outcome: () => void): void => {
    clearTimeout(timer);
    message.off('readable', attempt).off('end', attempt).off('error', attempt).off('close', attempt);
    outcome();
  };
  const attempt = (): void => {
    const length = Math.min(wanted, message.readableLength);
    const chunk = length > 0 ? (message.read(length) as Buffer | null) : null;
    if (chunk !== null) return settle(() => resolve(chunk));
    if (message.readableEnded && message.complete) return settle(() => resolve(new Uint8Array()));
    if (message.destroyed || message.errored)
      return settle(() => reject(new BrokerRefusal('incomplete', 'the response broke off')));
    // Only a read finds out that the end was reached.
    message.read(0);
    return undefined;
  };
  const timer = startTimer(betweenBytesMs, () => {
    settle(() => reject(new BrokerRefusal('readtimeout', 'no more bytes in time')));
    response.close();
  });
  message.on('readable', attempt).on('end', attempt).on('error', attempt).on('close', attempt);
  attempt();
  return promise;
}
