/**
 * The narrowest network rules that cover the observed requests: one per host, port and scheme, with its methods and paths.
 *
 * @module
 */
import { starMatches } from '../manifest/star-pattern.ts';
import type { NetworkRule } from '../manifest/manifest.ts';
import { hostProblem, urlPathProblem } from '../manifest/places.ts';
import { coversServer, usualPort } from '../policy/asked-request.ts';
import type { ObservedRequest } from './observed.ts';
import type { ObservedRule } from './least.ts';

/** With more paths than this at one host, the rule gets their common folder instead. */
const MAX_PATHS = 16;
/** Segments of a path that are data (numbers, digests, keys) and differ in the next call. */
const DATA = /^(?:\d+|[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f-]{27}|(?=.*\d)(?=.*[A-Za-z])[\w.~%+=:-]{20,})$/i;

export function leastNetwork(
  requests: ObservedRequest[],
  declared: NetworkRule[],
): ObservedRule<NetworkRule>[] {
  const groups = new Map<string, { base: NetworkRule; requests: ObservedRequest[] }>();
  const undeclarable = new Set(withLiteralStars(requests, declared));
  for (const request of requests.filter(({ host }) => hostProblem(host) === undefined)) {
    if (undeclarable.has(request)) continue;
    const base = declared.find((rule) => coversServer(rule, request)) ?? serverOf(request);
    const key = JSON.stringify([base.host, base.port, base.scheme]);
    const group = groups.get(key) ?? { base, requests: [] };
    group.requests.push(request);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ base, requests: members }) => ({
    rule: narrow(base, members),
    denied: members.every(({ denied }) => denied),
  }));
}

/** A `*` in a rule is a pattern, so a request for a path that contains one can only be declared together with others. */
export function withLiteralStars(requests: ObservedRequest[], declared: NetworkRule[]): ObservedRequest[] {
  return requests.filter((request) => {
    const { path } = request;
    if (path === undefined || !path.includes('*')) return false;
    const rules = declared.filter((rule) => coversServer(rule, request));
    return !rules.some(({ paths }) => paths === undefined || paths.some((one) => starMatches(one, path)));
  });
}

/** Rules whose server received no request. */
export function unusedNetwork(requests: ObservedRequest[], declared: NetworkRule[]): NetworkRule[] {
  return declared.filter((rule) => !requests.some((request) => coversServer(rule, request)));
}

function serverOf({ host, port, scheme }: ObservedRequest): NetworkRule {
  return { host, ...(port === usualPort(scheme) ? {} : { port }), scheme };
}

function narrow(
  { host, port, scheme, paths: patterns }: NetworkRule,
  requests: ObservedRequest[],
): NetworkRule {
  const server: NetworkRule = {
    host,
    ...(port === undefined ? {} : { port }),
    ...(scheme === undefined ? {} : { scheme }),
  };
  // An event without a method only names the server. A denied one gives no details; an allowed one is an opaque tunnel.
  const detailed = requests.filter(({ method }) => method !== undefined);
  const isBlind =
    requests.some(({ method, denied }) => method === undefined && !denied) || detailed.length === 0;
  if (isBlind) return server;
  const methods = unique(detailed.map(({ method = '' }) => method));
  return {
    ...server,
    methods,
    paths: pathsFor(
      detailed.map(({ path = '/' }) => path),
      patterns,
    ),
  };
}

/** Keeps declared patterns that were needed. */
function pathsFor(paths: string[], patterns: string[] = []): string[] {
  const found = paths.map(
    (path) => patterns.find((pattern) => starMatches(pattern, path)) ?? generalise(path),
  );
  const all = unique(found);
  return all.length > MAX_PATHS ? [`${commonFolder(all)}*`] : all;
}

function generalise(path: string): string {
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
