/**
 * A request as a guest asks for it, checked field by field, and the rule of the grant that covers it.
 *
 * @module
 */
import { BrokerRefusal } from '../cell/contract.ts';
import type { NetworkRule } from '../manifest/manifest.ts';
import { hostCovers } from '../policy/patterns.ts';

const METHOD = /^[A-Z]{1,16}$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const AUTHORITY = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;
const PATH = /^\/[\x21-\x7e]{0,8191}$/;
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 64 * 1024;
/** What belongs to the connection is ours, not the guest's. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'upgrade',
  'te',
  'trailer',
  'proxy-authorization',
  'proxy-connection',
  'expect',
]);

export interface HttpRequest {
  method: string;
  url: URL;
  headers: Record<string, string[]>;
}

export function readRequest(args: Record<string, unknown>): HttpRequest {
  const method = text(args['method'], METHOD, 'method');
  const scheme = args['scheme'] === 'http' ? 'http' : 'https';
  const authority = text(args['authority'], AUTHORITY, 'authority');
  const path = text(args['path'], PATH, 'path');
  const url = new URL(`${scheme}://${authority}${path}`);
  // The parser knows more spellings of a host than we allow; one that it changes is none that was checked.
  if (url.host !== authority.replace(scheme === 'http' ? /:80$/ : /:443$/, '')) throw bad('authority');
  return { method, url, headers: readHeaders(args['headers']) };
}

function readHeaders(given: unknown): Record<string, string[]> {
  if (!Array.isArray(given) || given.length > MAX_HEADERS) throw bad('headers');
  const headers = Object.create(null) as Record<string, string[]>;
  let bytes = 0;
  for (const pair of given as unknown[]) {
    const [name, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
    const key = text(name, TOKEN, 'header name').toLowerCase();
    // oxlint-disable-next-line no-control-regex -- a tab is the one control character that a value may have
    const content = text(value, /^[\t\x20-\x7e\x80-\xff]*$/, 'header value');
    bytes += key.length + content.length;
    if (bytes > MAX_HEADER_BYTES || OWN_HEADERS.has(key)) throw bad(`header "${key}"`);
    (headers[key] ??= []).push(content);
  }
  return headers;
}

/** The first rule that covers the request: exact host, port, scheme, method and path. */
export function ruleFor({ method, url }: HttpRequest, rules: NetworkRule[]): NetworkRule | undefined {
  const scheme = url.protocol.slice(0, -1);
  const port = Number(url.port || (scheme === 'http' ? 80 : 443));
  return rules.find(
    (rule) =>
      hostCovers(rule.host, url.hostname) &&
      scheme === (rule.scheme ?? 'https') &&
      port === (rule.port ?? (scheme === 'http' ? 80 : 443)) &&
      (rule.methods === undefined || rule.methods.includes(method)) &&
      (rule.paths === undefined || rule.paths.some((pattern) => globCovers(pattern, url.pathname))),
  );
}

/** `*` stands for any text. Walked without backtracking: the earliest place of each part is as good as any. */
function globCovers(pattern: string, path: string): boolean {
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
