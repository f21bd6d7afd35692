/**
 * A request by its url, and its response as a whole: for guests that have no streams.
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

/** The request, or why it is none. The url is taken apart by hand: what cannot be sent as it stands is refused. */
export function toRequest(call: Call, asked: Asked): HttpRequest | string {
  const [, scheme = '', authority = '', path = '/'] = URL_PARTS.exec(asked.url) ?? [];
  if (scheme === '') return 'The url does not begin with "http://" or "https://"';
  if (!isAuthority(authority)) return 'The url has no plain host and port';
  if (!isPath(path)) return 'The path of the url has letters that need encoding';
  if (!isToken(asked.method)) return 'The method is not a word';
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
    if (!isToken(name) || !isFieldValue(value)) return `The header "${name}" has forbidden letters`;
    if (isForbidden(name)) return `The header "${name}" is not for a skill to set`;
    if (name.toLowerCase() !== 'content-length') headers.push([name, value.toString('latin1')]);
  }
  return headers;
}

/** Makes a request and collects its response. Rejects with BrokerError, also when it is too large: a server did that. */
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
