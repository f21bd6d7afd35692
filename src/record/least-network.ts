/**
 * The least network rules that cover what was observed: one per host, port and scheme, with its methods and paths.
 *
 * @module
 */
import { usualPort } from '../broker/gateway/rules.ts';
import { starMatches } from '../manifest/star-pattern.ts';
import type { NetworkRule } from '../manifest/manifest.ts';
import { hostProblem, urlPathProblem } from '../manifest/places.ts';
import { hostCovers } from '../policy/patterns.ts';
import type { ObservedRequest } from './observed.ts';
import type { Noted } from './least.ts';

/** More paths than this at one host are a pattern that one run does not show. */
const MOST_PATHS = 16;
/** Parts of a path that are data: numbers, digests, keys. The next call has others. */
const DATA = /^(?:\d+|[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f-]{27}|(?=.*\d)(?=.*[A-Za-z])[\w.~%+=:-]{20,})$/i;

export function leastNetwork(requests: ObservedRequest[], declared: NetworkRule[]): Noted<NetworkRule>[] {
  const groups = new Map<string, { base: NetworkRule; requests: ObservedRequest[] }>();
  for (const request of requests.filter(({ host }) => hostProblem(host) === undefined)) {
    const base = declared.find((rule) => coversServer(rule, request)) ?? serverOf(request);
    const key = JSON.stringify([base.host, base.port, base.scheme]);
    const group = groups.get(key) ?? { base, requests: [] };
    group.requests.push(request);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ base, requests: members }) => ({
    rule: narrowed(base, members),
    denied: members.every(({ denied }) => denied),
  }));
}

/** Rules that no request came near. */
export function unusedNetwork(requests: ObservedRequest[], declared: NetworkRule[]): NetworkRule[] {
  return declared.filter((rule) => !requests.some((request) => coversServer(rule, request)));
}

function coversServer(rule: NetworkRule, { host, port, scheme }: ObservedRequest): boolean {
  const expected = rule.scheme ?? 'https';
  return hostCovers(rule.host, host) && expected === scheme && (rule.port ?? usualPort(expected)) === port;
}

function serverOf({ host, port, scheme }: ObservedRequest): NetworkRule {
  return { host, ...(port === usualPort(scheme) ? {} : { port }), scheme };
}

function narrowed(
  { host, port, scheme, paths: patterns }: NetworkRule,
  requests: ObservedRequest[],
): NetworkRule {
  const server: NetworkRule = {
    host,
    ...(port === undefined ? {} : { port }),
    ...(scheme === undefined ? {} : { scheme }),
  };
  // A program that asked for the server alone is followed by one that says more, or by none that anybody sees.
  const told = requests.filter(({ method }) => method !== undefined);
  const isBlind = requests.some(({ method, denied }) => method === undefined && !denied) || told.length === 0;
  if (isBlind) return server;
  const methods = unique(told.map(({ method = '' }) => method));
  return {
    ...server,
    methods,
    paths: pathsFor(
      told.map(({ path = '/' }) => path),
      patterns,
    ),
  };
}

/** Patterns that are declared already are kept as far as they were needed. */
function pathsFor(paths: string[], patterns: string[] = []): string[] {
  const found = paths.map(
    (path) => patterns.find((pattern) => starMatches(pattern, path)) ?? generalised(path),
  );
  const all = unique(found);
  return all.length > MOST_PATHS ? [`${commonFolder(all)}*`] : all;
}

function generalised(path: string): string {
  const general = path
    .split('/')
    .map((segment) => (DATA.test(segment) ? '*' : segment))
    .join('/');
  return urlPathProblem(general) === undefined ? general : '/*';
}

function commonFolder(paths: string[]): string {
  const [first = '/'] = paths;
  let length = first.lastIndexOf('/') + 1;
  while (!paths.every((path) => path.startsWith(first.slice(0, length))))
    length = first.lastIndexOf('/', length - 2) + 1;
  return first.slice(0, length).replace(/\*.*$/, '');
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)].sort();
}
