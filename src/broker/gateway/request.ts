/**
 * Reads a request from a guest and checks every field. Each host has one spelling; one that a parser would change is refused.
 *
 * @module
 */
import { isIP } from 'node:net';
import { BrokerRefusal } from '../../cell/contract.ts';
import type { Scheme } from '../../vocabulary/network-schemes.ts';
import { usualPort } from './rules.ts';
import { readTimeouts, type HttpTimeouts } from './timeouts.ts';

const METHOD = /^[A-Z]{1,16}$/;
/** They address intermediaries, not the server. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);
export const TOKEN: RegExp = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
// oxlint-disable-next-line no-control-regex -- a tab is the one control character that a value may have
export const FIELD_VALUE: RegExp = /^[\t\x20-\x7e\x80-\xff]*$/;
const AUTHORITY = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** A `#` would start a fragment, which is not sent to servers. */
const PATH = /^\/[\x21\x22\x24-\x7e]{0,8191}$/;
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 64 * 1024;
/** Headers of the connection, which the gateway sets, not the guest. */
export const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
  'trailer',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'expect',
]);

export interface HttpRequest {
  method: string;
  /** Of scheme http, https, ws or wss. */
  url: URL;
  headers: Record<string, string[]>;
  timeouts: HttpTimeouts;
}

/** The server of a tunnel. */
export interface Server {
  /** Lower case, an IPv6 address without brackets. */
  host: string;
  port: number;
}

const PLAIN_SCHEMES: readonly Scheme[] = ['http', 'https'];

export function readRequest(
  args: Record<string, unknown>,
  schemes: readonly Scheme[] = PLAIN_SCHEMES,
): HttpRequest {
  const method = text(args['method'], METHOD, 'method');
  if (REFUSED_METHODS.has(method)) throw bad('method');
  const scheme = schemes.find((one) => one === args['scheme']);
  if (scheme === undefined) throw bad('scheme');
  return {
    method,
    url: readUrl(scheme, args['authority'], args['path']),
    headers: readHeaders(args['headers']),
    timeouts: readTimeouts(args),
  };
}

/** Parses `host:port`; the port is required. */
export function readServer(given: unknown): Server {
  const port = /:(\d{1,5})$/.exec(String(given))?.[1];
  if (port === undefined) throw bad('authority');
  const url = readUrl(schemeOf(Number(port)), given, '/');
  return { host: hostOf(url), port: Number(port) };
}

/** The most likely scheme for a port, for messages. */
export function schemeOf(port: number): Scheme {
  return port === 80 ? 'http' : 'https';
}

/** The host without port; an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The server as it appears in a URL. */
export function authorityOf({ host, port }: Server, scheme: Scheme): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === usualPort(scheme) ? name : `${name}:${port}`;
}

/** Describes a request for messages and records, without its query, which often contains keys. */
export function describeRequest({ method, url }: Pick<HttpRequest, 'method' | 'url'>): string {
  return `${method} ${url.protocol}//${url.host}${url.pathname}`;
}

export function readUrl(scheme: Scheme, authority: unknown, path: unknown): URL {
  const given = typeof authority === 'string' ? authority.toLowerCase() : undefined;
  const checked = text(given, AUTHORITY, 'authority');
  const address = `${scheme}://${checked}${text(path, PATH, 'path')}`;
  if (!URL.canParse(address)) throw bad('authority');
  const url = new URL(address);
  // The parser accepts more spellings of a host than we allow; if it changes one, the check above was for another host.
  const usual = `:${usualPort(scheme)}`;
  const wanted = checked.endsWith(usual) ? checked.slice(0, -usual.length) : checked;
  const host = hostOf(url);
  const isName = host.split('.').every((label) => LABEL.test(label));
  if (url.host !== wanted || !(isIP(host) || isName)) throw bad('authority');
  return url;
}

function readHeaders(given: unknown): Record<string, string[]> {
  if (!Array.isArray(given) || given.length > MAX_HEADERS) throw bad('headers');
  const headers = Object.create(null) as Record<string, string[]>;
  let bytes = 0;
  for (const pair of given as unknown[]) {
    const [name, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
    const key = text(name, TOKEN, 'header name').toLowerCase();
    const content = text(value, FIELD_VALUE, 'header value');
    bytes += key.length + content.length;
    if (bytes > MAX_HEADER_BYTES || OWN_HEADERS.has(key)) throw bad(`header "${key}"`);
    // The length comes from the body, not from the guest.
    if (key !== 'content-length') (headers[key] ??= []).push(content);
  }
  return headers;
}

function text(value: unknown, pattern: RegExp, what: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw bad(what);
}

function bad(what: string): BrokerRefusal {
  return new BrokerRefusal('inval', `bad ${what}`);
}
