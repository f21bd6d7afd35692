/**
 * A request as a guest asks for it, checked field by field, and the rule of the grant that covers it.
 *
 * @module
 */
import { BrokerRefusal } from '../../cell/contract.ts';
import type { NetworkRule } from '../../manifest/manifest.ts';
import { hostCovers } from '../../policy/patterns.ts';
import { readTimeouts, type HttpTimeouts } from './timeouts.ts';

const METHOD = /^[A-Z]{1,16}$/;
/** They speak to what lies between us and the server. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
// oxlint-disable-next-line no-control-regex -- a tab is the one control character that a value may have
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const AUTHORITY = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;
/** A `#` would begin a fragment, which no server gets to see. */
const PATH = /^\/[\x21\x22\x24-\x7e]{0,8191}$/;
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 64 * 1024;
/** A server that decodes more often than this is not to be helped. */
const MAX_DECODINGS = 4;
/** What belongs to the connection is ours, not the guest's. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
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
  url: URL;
  headers: Record<string, string[]>;
  timeouts: HttpTimeouts;
}

export function readRequest(args: Record<string, unknown>): HttpRequest {
  const method = text(args['method'], METHOD, 'method');
  if (REFUSED_METHODS.has(method)) throw bad('method');
  const { scheme } = args;
  if (scheme !== 'http' && scheme !== 'https') throw bad('scheme');
  return {
    method,
    url: readUrl(scheme, args),
    headers: readHeaders(args['headers']),
    timeouts: readTimeouts(args),
  };
}

function readUrl(scheme: 'http' | 'https', args: Record<string, unknown>): URL {
  const given = typeof args['authority'] === 'string' ? args['authority'].toLowerCase() : undefined;
  const authority = text(given, AUTHORITY, 'authority');
  const address = `${scheme}://${authority}${text(args['path'], PATH, 'path')}`;
  if (!URL.canParse(address)) throw bad('authority');
  const url = new URL(address);
  // The parser knows more spellings of a host than we allow; one that it changes is none that was checked.
  const wanted = authority.replace(scheme === 'http' ? /:80$/ : /:443$/, '');
  if (url.host !== wanted || url.hostname.endsWith('.')) throw bad('authority');
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
    // Its length is what the body says, whatever the guest says.
    if (key !== 'content-length') (headers[key] ??= []).push(content);
  }
  return headers;
}

/** The first rule that covers the request: exact host, port, scheme, method and path. */
export function ruleFor({ method, url }: HttpRequest, rules: NetworkRule[]): NetworkRule | undefined {
  const scheme = url.protocol.slice(0, -1);
  const usual = scheme === 'http' ? 80 : 443;
  return rules.find(
    (rule) =>
      hostCovers(rule.host, url.hostname) &&
      scheme === (rule.scheme ?? 'https') &&
      Number(url.port || usual) === (rule.port ?? usual) &&
      (rule.methods === undefined || rule.methods.includes(method)) &&
      (rule.paths === undefined || readings(url.pathname).every((path) => isCovered(path, rule.paths))),
  );
}

function isCovered(path: string, patterns: string[] = []): boolean {
  return patterns.some((pattern) => globCovers(pattern, path));
}

/** A path as it is sent, and as servers may read it that decode it before they look for `..`. */
function readings(path: string): string[] {
  const found = [path];
  for (let last = path; found.length <= MAX_DECODINGS;) {
    const decoded = decode(last);
    if (decoded === last) return found;
    found.push(withoutDots(decoded));
    last = decoded;
  }
  return [...found, ''];
}

function decode(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.replaceAll(/[\\/]+/g, '/').split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return kept[0] === '' ? kept.join('/') : `/${kept.join('/')}`;
}

/** `*` stands for any text. Walked without backtracking: the earliest place of each part is as good as any. */
export function globCovers(pattern: string, path: string): boolean {
  const parts = pattern.split('*');
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (parts.length === 1) return path === pattern;
  if (!path.startsWith(first) || !path.endsWith(last) || path.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = path.indexOf(part, at);
    if (found < 0 || found + part.length > path.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

function text(value: unknown, pattern: RegExp, what: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw bad(what);
}

function bad(what: string): BrokerRefusal {
  return new BrokerRefusal('inval', `bad ${what}`);
}
