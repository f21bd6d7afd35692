/**
 * `skillcell:skill/host`: log lines, and http for languages whose toolchain cannot import `wasi:http`.
 *
 * @module
 */
import { GuestEnd, type HostInterfaces } from '../contract.ts';
import { BrokerError, type HttpRequest } from './broker-client.ts';
import { type Call, currentCall, type LogLevel, type Slot } from './call.ts';
import { asBytes, asList, asPair, asString, trap } from './check.ts';
import { exchange, type HttpAnswer } from './http/exchange.ts';
import { isAuthority, isFieldValue, isForbidden, isPath, isToken } from './http/rules.ts';
import { CHUNK } from './streams.ts';

const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];
const URL_PARTS = /^(https?):\/\/([^/?#]*)([/?][^#]*)?(?:#.*)?$/i;

interface Response {
  status: number;
  headers: [string, string][];
  body: Uint8Array;
}

export function skillHostInterfaces(slot: Slot): HostInterfaces {
  return {
    'skillcell:skill/host': {
      log: {
        call: (level, message) => {
          const known = LEVELS.find((name) => name === level);
          currentCall(slot).log(known ?? trap('An argument is not a log level'), asString(message));
        },
      },
      fetch: { suspends: true, call: (...args) => fetchFor(currentCall(slot), args) },
    },
  };
}

async function fetchFor(call: Call, args: unknown[]): Promise<{ ok: Response } | { err: string }> {
  const [method, url, headers, body] = args;
  const bytes = asBytes(body);
  if (bytes.length > call.limits.requestBody) throw new GuestEnd('limit', 'http_body');
  const request = toRequest(call, { method: asString(method), url: asString(url), headers: asList(headers) });
  if (typeof request === 'string') return { err: request };
  try {
    const answer = await exchange(call, request, bytes);
    return { ok: { status: answer.status, headers: answer.headers, body: await collect(call, answer) } };
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    return { err: reason(error) };
  }
}

function reason({ code, message }: BrokerError): string {
  if (code !== 'denied') return message;
  return message === code ? 'denied: The grant does not allow this request' : `denied: ${message}`;
}

interface Asked {
  method: string;
  url: string;
  headers: unknown[];
}

/** The request, or why it is none. The url is taken apart by hand: what cannot be sent as it stands is refused. */
function toRequest(call: Call, asked: Asked): HttpRequest | string {
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

function toHeaders(call: Call, list: unknown[]): [string, string][] | string {
  const headers: [string, string][] = [];
  let size = 0;
  for (const item of list) {
    const [first, second] = asPair(item);
    const name = asString(first);
    const value = Buffer.from(asString(second));
    size += name.length + value.length;
    if (size > call.limits.headerBytes) throw new GuestEnd('limit', 'http_headers');
    if (!isToken(name) || !isFieldValue(value)) return `The header "${name}" has forbidden letters`;
    if (isForbidden(name)) return `The header "${name}" is not for a skill to set`;
    if (name.toLowerCase() !== 'content-length') headers.push([name, value.toString('latin1')]);
  }
  return headers;
}

async function collect(call: Call, answer: HttpAnswer): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const bytes = await answer.body.read(CHUNK);
      if (bytes.length === 0) return Buffer.concat(chunks, length);
      length += bytes.length;
      if (length > call.limits.responseBody) throw new GuestEnd('limit', 'http_body');
      chunks.push(bytes);
    }
  } finally {
    answer.body.release();
  }
}
