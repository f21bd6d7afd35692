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
  const covering = rules.filter((rule) => covers(rule, request));
  if (covering.length === 0) return 'no network rule covers it';
  // A rule that is for all of a server does not care what the request becomes there.
  if (covering.some((rule) => rule.methods === undefined && rule.paths === undefined)) return undefined;
  const override = overrideIn(request);
  return override && `its ${override} could make it another request than the rule covers`;
}

function covers(rule: NetworkRule, { method, url }: RuledRequest): boolean {
  const scheme = url.protocol.slice(0, -1) as Scheme;
  const port = Number(url.port || usualPort(scheme));
  return (
    scheme === (rule.scheme ?? 'https') &&
    coversServer(rule, url.hostname, port) &&
    (rule.methods === undefined || rule.methods.includes(method)) &&
    (rule.paths === undefined || isPathCovered(url.pathname, rule.paths))
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

/** In every way in which a server may read it. */
function isPathCovered(path: string, patterns: readonly string[]): boolean {
  const all = readings(path);
  return (
    all !== undefined && all.every((reading) => patterns.some((pattern) => starMatches(pattern, reading)))
  );
}
