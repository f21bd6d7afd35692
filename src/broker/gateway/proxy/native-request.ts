/**
 * Converts a request from a native program to its proxy into the request to the server. Headers for the proxy are removed; a
 * request that names another server than the checked one is refused.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { BrokerRefusal } from '../../../cell/contract.ts';
import { OWN_HEADERS, readRequest, readUrl, type HttpRequest } from '../request.ts';
import { headerPairs } from '../response-head.ts';
import { SCHEMES, type Scheme } from '../../../vocabulary/network-schemes.ts';

/** The server of a connection inside a tunnel. */
export interface Origin {
  scheme: 'http' | 'https';
  authority: string;
}

/** Prefix of headers from the gateway to the harness; skills and servers must not set them. */
const OUR_PREFIX = 'skillcell-';
const ABSOLUTE = /^(https?):\/\/([^/?#]*)([^#]*)$/i;

export interface NativeRequest {
  request: HttpRequest;
  /** The value of the Host header if it names another server. */
  otherHost?: string;
}

export function readNativeRequest(message: IncomingMessage, origin: Origin | undefined): NativeRequest {
  const { scheme, authority, path } = origin
    ? { ...origin, path: message.url }
    : readAbsolute(message.url ?? '');
  const isSocket = message.headers.upgrade?.toLowerCase() === 'websocket';
  const pairs = headerPairs(message);
  const request = readRequest(
    {
      method: message.method,
      scheme: isSocket ? socketScheme(scheme) : scheme,
      authority,
      path,
      headers: withoutConnectionHeaders(pairs),
    },
    SCHEMES,
  );
  const hosts = pairs.filter(([name]) => name.toLowerCase() === 'host').map(([, value]) => value);
  const other = hosts.length === 1 ? otherThan(request.url, hosts[0] ?? '') : hosts.join(', ');
  return other === undefined ? { request } : { request, otherHost: other };
}

function readAbsolute(target: string): Origin & { path: string } {
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(target) ?? [];
  if (scheme === '')
    throw new BrokerRefusal('inval', 'this is a proxy: it needs an absolute http:// or https:// URL');
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return { scheme: scheme.toLowerCase() === 'http' ? 'http' : 'https', authority, path };
}

function socketScheme(scheme: 'http' | 'https'): Scheme {
  return scheme === 'http' ? 'ws' : 'wss';
}

/** Undefined when the header names the server of the URL. */
function otherThan(url: URL, host: string): string | undefined {
  try {
    const named = readUrl(url.protocol.slice(0, -1) as Scheme, host, '/');
    return named.host === url.host ? undefined : named.host;
  } catch {
    return host;
  }
}

/** Removes the headers of the connection, including those that `Connection` lists. */
export function withoutConnectionHeaders(pairs: [string, string][]): [string, string][] {
  const named = new Set(
    pairs
      .filter(([name]) => /^(?:proxy-)?connection$/i.test(name))
      .flatMap(([, value]) => value.toLowerCase().split(','))
      .map((name) => name.trim()),
  );
  return pairs.filter(([name]) => {
    const key = name.toLowerCase();
    return !OWN_HEADERS.has(key) && !named.has(key) && !key.startsWith(OUR_PREFIX);
  });
}
