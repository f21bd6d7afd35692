/**
 * A request by URL, with a complete response: for guests without streams.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import { BrokerError, type HttpRequest } from '../broker-client.ts';
import type { Call } from '../call.ts';
import { CHUNK } from '../streams.ts';
import { exchange, type HttpAnswer } from './exchange.ts';
import { isAuthority, isFieldValue, isForbidden, isPath, isToken } from './rules.ts';

const URL_PARTS = /^(https?):\/\/([^/?#]*)([/?][^#]*)?(?:#.*)?$/i;

export interface Asked {
  method: string;
  url: string;
  headers: [string, string][];
}

export interface WholeResponse {
  status: number;
  headers: [string, string][];
  body: Uint8Array;
}

/** The request, or the reason why it is invalid. The URL is parsed by hand: anything that cannot be sent as it is, is refused. */
export function toRequest(call: Call, asked: Asked): HttpRequest | string {
  const [, scheme = '', authority = '', path = '/'] = URL_PARTS.exec(asked.url) ?? [];
  if (scheme === '') return 'The URL does not begin with "http://" or "https://"';
  if (!isAuthority(authority)) return 'The URL does not have a plain host and port';
  if (!isPath(path)) return 'The path of the URL has characters that must be encoded';
  if (!isToken(asked.method)) return 'The method is not a valid token';
  const headers = toHeaders(call, asked.headers);
  if (typeof headers === 'string') return headers;
  return {
    method: asked.method,
    scheme: scheme.toLowerCase() === 'http' ? 'http' : 'https',
    authority,
    path: path.startsWith('/') ? path : `/${path}`,
    headers,
  };
}

function toHeaders(call: Call, list: [string, string][]): [string, string][] | string {
  const headers: [string, string][] = [];
  let size = 0;
  for (const [name, text] of list) {
    const value = Buffer.from(text);
    size += name.length + value.length;
    if (size > call.limits.headerBytes) throw new GuestEnd('limit', 'http_headers');
    if (!isToken(name) || !isFieldValue(value)) return `The header "${name}" has forbidden characters`;
    if (isForbidden(name)) return `A skill cannot set the header "${name}"`;
    if (name.toLowerCase() !== 'content-length') headers.push([name, value.toString('latin1')]);
  }
  return headers;
}

/** Makes a request and collects its response. Rejects with BrokerError, even if the response is too large. */
export async function fetchWhole(call: Call, request: HttpRequest, body: Uint8Array): Promise<WholeResponse> {
  const answer = await exchange(call, request, body);
  return { status: answer.status, headers: answer.headers, body: await collect(call, answer) };
}

async function collect(call: Call, answer: HttpAnswer): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const bytes = await answer.body.read(CHUNK);
      if (bytes.length === 0) return Buffer.concat(chunks, length);
      length += bytes.length;
      if (length > call.limits.responseBody) throw new BrokerError('toobig', 'the response is too large');
      chunks.push(bytes);
    }
  } finally {
    answer.body.release();
  }
}
