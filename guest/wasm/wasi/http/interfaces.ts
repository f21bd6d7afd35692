/**
 * `wasi:http`: types for a client, and the outgoing handler. A skill serves no requests: server functions can be
 * imported, but calling one ends the guest.
 *
 * @module
 */
import type { HostFunction, HostInterfaces } from '../../contract.ts';
import type { HttpRequest } from '../broker-client.ts';
import type { Slot } from '../call.ts';
import { asOption, asResource, trap } from '../check.ts';
import { exchange, type HttpErrorCode } from './exchange.ts';
import { fieldsFunctions } from './fields.ts';
import { FutureResponse, incomingFunctions, IncomingResponse } from './incoming.ts';
import { outgoingFunctions, OutgoingRequest, RequestOptions } from './outgoing.ts';

const NS_PER_MS = 1_000_000n;
const MAX_TIMEOUT_MS = 0x7fffffff;
const NO_BODY = new Uint8Array(0);

/** JavaScript engines import these although they never receive an incoming request here. */
const SERVER_ONLY: readonly string[] = [
  '[method]incoming-request.method',
  '[method]incoming-request.path-with-query',
  '[method]incoming-request.scheme',
  '[method]incoming-request.authority',
  '[method]incoming-request.headers',
  '[method]incoming-request.consume',
  '[constructor]outgoing-response',
  '[method]outgoing-response.status-code',
  '[method]outgoing-response.set-status-code',
  '[method]outgoing-response.headers',
  '[method]outgoing-response.body',
  '[static]response-outparam.set',
];

export function httpInterfaces(slot: Slot): HostInterfaces {
  const serverOnly: HostFunction = { call: () => trap('A skill cannot serve HTTP requests') };
  return {
    'wasi:http/types': {
      ...fieldsFunctions(slot),
      ...outgoingFunctions(slot),
      ...incomingFunctions(),
      ...Object.fromEntries(SERVER_ONLY.map((name) => [name, serverOnly])),
    },
    'wasi:http/outgoing-handler': { handle: { call: handle } },
  };
}

function handle(
  requestValue: unknown,
  optionsValue: unknown,
): { ok: FutureResponse } | { err: HttpErrorCode } {
  const request = asResource(requestValue, OutgoingRequest);
  const options = asOption(optionsValue, (value) => asResource(value, RequestOptions));
  if (request.sent) trap('A request was sent twice');
  request.sent = true;
  const message = toMessage(request, options);
  if ('tag' in message) return { err: message };
  const future = new FutureResponse();
  const { body } = request;
  if (body === undefined) send(request, message, future);
  else if (body.complete) send(request, message, future);
  else {
    body.onEnd = (error) =>
      error === undefined ? send(request, message, future) : future.settle({ err: error });
  }
  return { ok: future };
}

function send(request: OutgoingRequest, message: HttpRequest, future: FutureResponse): void {
  exchange(request.call, message, request.body?.bytes() ?? NO_BODY)
    .then((answer) => future.settle({ ok: new IncomingResponse(request.call, answer) }))
    .catch((error: unknown) => future.fail(error));
}

function toMessage(
  request: OutgoingRequest,
  options: RequestOptions | undefined,
): HttpRequest | HttpErrorCode {
  const { authority } = request;
  const scheme = request.scheme?.tag ?? 'HTTPS';
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') return { tag: 'HTTP-protocol-error' };
  if (authority === undefined) return { tag: 'HTTP-request-URI-invalid' };
  if (request.method.tag === 'connect') return { tag: 'HTTP-request-method-invalid' };
  const path = request.path ?? '';
  const { tag, val } = request.method;
  return {
    method: tag === 'other' ? String(val) : tag.toUpperCase(),
    scheme: scheme === 'HTTP' ? 'http' : 'https',
    authority,
    path: path.startsWith('/') ? path : `/${path}`,
    headers: outgoingHeaders(request),
    ...timeouts(options),
  };
}

/** The sender of the body counts its length. */
function outgoingHeaders(request: OutgoingRequest): [string, string][] {
  return request.headers
    .entries()
    .filter(([name]) => name.toLowerCase() !== 'content-length')
    .map(([name, value]) => [name, Buffer.from(value).toString('latin1')]);
}

function timeouts(options: RequestOptions | undefined): Partial<HttpRequest> {
  const result: Partial<HttpRequest> = {};
  if (options?.connect !== undefined) result.connectTimeout = milliseconds(options.connect);
  if (options?.firstByte !== undefined) result.firstByteTimeout = milliseconds(options.firstByte);
  if (options?.betweenBytes !== undefined) result.betweenBytesTimeout = milliseconds(options.betweenBytes);
  return result;
}

function milliseconds(duration: bigint): number {
  const count = (duration + NS_PER_MS - 1n) / NS_PER_MS;
  return count > BigInt(MAX_TIMEOUT_MS) ? MAX_TIMEOUT_MS : Number(count);
}
