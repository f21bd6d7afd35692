/**
 * Finds the rule of the grant that covers a request: host, port, scheme, method and path. Pure string logic.
 *
 * @module
 */
import type { NetworkRule } from '../../manifest/manifest.ts';
import { starMatches } from '../../manifest/star-pattern.ts';
import { usualPort } from '../../policy/asked-request.ts';
import type { Scheme } from '../../vocabulary/network-schemes.ts';
import { hostCovers } from '../../policy/patterns.ts';
import { overrideIn } from './overrides.ts';
import { readings } from './path-readings.ts';

export { usualPort };

export interface RuledRequest {
  method: string;
  url: URL;
  /** Names in lower case. */
  headers: Readonly<Record<string, unknown>>;
}

/** The reason why no rule covers the request; undefined when one does. */
export function objectionTo(request: RuledRequest, rules: readonly NetworkRule[]): string | undefined {
  const path = new CheckedPath(request.url.pathname);
  const covering = rules.filter((rule) => covers(rule, request, path));
  // A different text if the server is granted, so that a flood of invented hosts cannot hide it in a receipt.
  if (covering.length === 0)
    return isGranted(request.url, rules)
      ? 'no network rule covers its method and path'
      : 'no network rule covers it';
  // If a rule covers the whole server, it does not matter what the server makes of the request.
  if (covering.some((rule) => rule.methods === undefined && rule.paths === undefined)) return undefined;
  const override = overrideIn(request) ?? otherDestination(request, rules);
  return override && `its ${override} could make it another request than the rule covers`;
}

/** WebDAV's COPY and MOVE name a second path. */
function otherDestination(request: RuledRequest, rules: readonly NetworkRule[]): string | undefined {
  const { url, headers, method } = request;
  const given = [headers['destination'] ?? []].flat().map(String);
  const isCovered = (text: string): boolean => {
    if (!URL.canParse(text, url)) return false;
    const destination = { method, headers: {}, url: new URL(text, url) };
    const path = new CheckedPath(destination.url.pathname);
    return rules.some((rule) => covers(rule, destination, path));
  };
  return given.every(isCovered) ? undefined : 'header "destination"';
}

function isGranted(url: URL, rules: readonly NetworkRule[]): boolean {
  return rules.some((rule) => coversOrigin(rule, url));
}

function coversOrigin(rule: NetworkRule, url: URL): boolean {
  const scheme = url.protocol.slice(0, -1) as Scheme;
  const port = Number(url.port || usualPort(scheme));
  return scheme === (rule.scheme ?? 'https') && coversServer(rule, url.hostname, port);
}

function covers(rule: NetworkRule, { method, url }: RuledRequest, path: CheckedPath): boolean {
  return (
    coversOrigin(rule, url) &&
    (rule.methods === undefined || rule.methods.includes(method)) &&
    (rule.paths === undefined || path.isCovered(rule.paths))
  );
}

/** The schemes that the rules allow for this host and port. */
export function schemesFor(host: string, port: number, rules: NetworkRule[]): Set<Scheme> {
  return new Set(
    rules.filter((rule) => coversServer(rule, host, port)).map((rule) => rule.scheme ?? 'https'),
  );
}

function coversServer(rule: NetworkRule, host: string, port: number): boolean {
  return hostCovers(rule.host, host) && port === (rule.port ?? usualPort(rule.scheme ?? 'https'));
}

/** Limit on characters compared for one path; enough for tens of thousands of patterns with a common path. */
const MAX_COMPARED = 4 * 1024 * 1024;

/** A path whose readings are computed once for all rules, because both the rules and the path are untrusted. */
class CheckedPath {
  readonly #path: string;
  #readings: readonly string[] | undefined;
  #isRead = false;
  #left = MAX_COMPARED;

  constructor(path: string) {
    this.#path = path;
  }

  /** True if the patterns cover every reading of the path. */
  isCovered(patterns: readonly string[]): boolean {
    if (!this.#isRead) this.#readings = readings(this.#path);
    this.#isRead = true;
    return this.#readings?.every((reading) => this.#isOneOf(patterns, reading)) ?? false;
  }

  #isOneOf(patterns: readonly string[], reading: string): boolean {
    for (const pattern of patterns) {
      this.#left -= reading.length;
      if (this.#left < 0) return false;
      if (starMatches(pattern, reading)) return true;
    }
    return false;
  }
}
