/**
 * Which rule of the grant covers a request: exact host, port, scheme, method and path. Pure string logic.
 *
 * @module
 */
import type { NetworkRule } from '../../manifest/manifest.ts';
import { starMatches } from '../../manifest/star-pattern.ts';
import { hostCovers } from '../../policy/patterns.ts';

export type Scheme = NonNullable<NetworkRule['scheme']>;

/** A server that decodes more often than this is not to be helped. */
const MAX_DECODINGS = 4;

export function usualPort(scheme: Scheme): number {
  return scheme === 'http' || scheme === 'ws' ? 80 : 443;
}

/** The first rule that covers a request of this method to this address. */
export function ruleFor(method: string, url: URL, rules: NetworkRule[]): NetworkRule | undefined {
  const scheme = url.protocol.slice(0, -1) as Scheme;
  const port = Number(url.port || usualPort(scheme));
  return rules.find(
    (rule) =>
      scheme === (rule.scheme ?? 'https') &&
      coversServer(rule, url.hostname, port) &&
      (rule.methods === undefined || rule.methods.includes(method)) &&
      (rule.paths === undefined || readings(url.pathname).every((path) => isCovered(path, rule.paths))),
  );
}

/** What may be spoken to this server, as far as its name and port tell. */
export function schemesFor(host: string, port: number, rules: NetworkRule[]): Set<Scheme> {
  return new Set(
    rules.filter((rule) => coversServer(rule, host, port)).map((rule) => rule.scheme ?? 'https'),
  );
}

function coversServer(rule: NetworkRule, host: string, port: number): boolean {
  return hostCovers(rule.host, host) && port === (rule.port ?? usualPort(rule.scheme ?? 'https'));
}

function isCovered(path: string, patterns: string[] = []): boolean {
  return patterns.some((pattern) => starMatches(pattern, path));
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
