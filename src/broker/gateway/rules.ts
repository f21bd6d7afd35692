/**
 * Which rule of the grant covers a request: exact host, port, scheme, method and path. Pure string logic.
 *
 * @module
 */
import type { NetworkRule } from '../../manifest/manifest.ts';
import { starMatches } from '../../manifest/star-pattern.ts';
import { hostCovers } from '../../policy/patterns.ts';
import { overrideIn } from './overrides.ts';
import { readings } from './path-readings.ts';

export type Scheme = NonNullable<NetworkRule['scheme']>;

export function usualPort(scheme: Scheme): number {
  return scheme === 'http' || scheme === 'ws' ? 80 : 443;
}

export interface RuledRequest {
  method: string;
  url: URL;
  /** Names in lower case. */
  headers: Readonly<Record<string, unknown>>;
}

/** Why no rule covers the request, or undefined when one does. */
export function objectionTo(request: RuledRequest, rules: readonly NetworkRule[]): string | undefined {
  const path = new JudgedPath(request.url.pathname);
  const covering = rules.filter((rule) => covers(rule, request, path));
  if (covering.length === 0) return 'no network rule covers it';
  // A rule that is for all of a server does not care what the request becomes there.
  if (covering.some((rule) => rule.methods === undefined && rule.paths === undefined)) return undefined;
  const override = overrideIn(request) ?? otherDestination(request, rules);
  return override && `its ${override} could make it another request than the rule covers`;
}

/** COPY and MOVE of WebDAV name a second path. */
function otherDestination(request: RuledRequest, rules: readonly NetworkRule[]): string | undefined {
  const { url, headers, method } = request;
  const given = [headers['destination'] ?? []].flat().map(String);
  const isCovered = (text: string): boolean => {
    if (!URL.canParse(text, url)) return false;
    const destination = { method, headers: {}, url: new URL(text, url) };
    const path = new JudgedPath(destination.url.pathname);
    return rules.some((rule) => covers(rule, destination, path));
  };
  return given.every(isCovered) ? undefined : 'header "destination"';
}

function covers(rule: NetworkRule, { method, url }: RuledRequest, path: JudgedPath): boolean {
  const scheme = url.protocol.slice(0, -1) as Scheme;
  const port = Number(url.port || usualPort(scheme));
  return (
    scheme === (rule.scheme ?? 'https') &&
    coversServer(rule, url.hostname, port) &&
    (rule.methods === undefined || rule.methods.includes(method)) &&
    (rule.paths === undefined || path.isCovered(rule.paths))
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

/** Characters of one path, counted with each pattern that it is compared with: a usual path and tens of thousands of them. */
const MOST_COMPARED = 4 * 1024 * 1024;

/** Read once, however many rules there are: the rules and the path are a stranger's, and the time is everybody's. */
class JudgedPath {
  readonly #path: string;
  #readings: readonly string[] | undefined;
  #isRead = false;
  #left = MOST_COMPARED;

  constructor(path: string) {
    this.#path = path;
  }

  /** In every way in which a server may read it. */
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
