/**
 * Reads a denied or used network act from its description, and finds out whether a rule covers it.
 *
 * @module
 */
import type { NetworkRule } from '../manifest/manifest.ts';
import { starMatches } from '../manifest/star-pattern.ts';
import type { Scheme } from '../vocabulary/network-schemes.ts';
import { hostCovers, normalizeHost } from './patterns.ts';

export interface AskedRequest {
  host: string;
  port: number;
  scheme: Scheme;
  /** Absent if it was not visible, such as inside a tunnel. */
  method?: string;
  path?: string;
}

export function usualPort(scheme: Scheme): number {
  return scheme === 'http' || scheme === 'ws' ? 80 : 443;
}

/** Undefined for acts that are not requests, such as `listen on ::1:0`. */
export function readAskedRequest(asked: string): AskedRequest | undefined {
  const at = asked.indexOf(' ');
  const [verb, what] = [asked.slice(0, at), asked.slice(at + 1)];
  if (verb === 'connect' || verb === 'resolve') return readServer(what);
  if (!/^[A-Z]+$/.test(verb) || !URL.canParse(what)) return undefined;
  const url = new URL(what);
  const scheme = url.protocol.slice(0, -1) as Scheme;
  const server = { host: normalizeHost(url.hostname), port: Number(url.port || usualPort(scheme)), scheme };
  // A CONNECT request does not say what the tunnel is for.
  return verb === 'CONNECT' ? server : { ...server, method: verb, path: url.pathname };
}

/** `host:port`, from a program that uses sockets directly; the scheme is inferred from the port. */
function readServer(what: string): AskedRequest | undefined {
  const [, host, port] = /^(.+?)(?::(\d+))?$/.exec(what) ?? [];
  if (host === undefined) return undefined;
  const number = Number(port ?? usualPort('https'));
  return {
    host: normalizeHost(host),
    port: number,
    scheme: number === usualPort('http') ? 'http' : 'https',
  };
}

/** Does the rule cover host, port and scheme? */
export function coversServer(rule: NetworkRule, { host, port, scheme }: AskedRequest): boolean {
  const expected = rule.scheme ?? 'https';
  return hostCovers(rule.host, host) && expected === scheme && (rule.port ?? usualPort(expected)) === port;
}

export function coversRequest(rule: NetworkRule, request: AskedRequest): boolean {
  const { method, path } = request;
  return (
    coversServer(rule, request) &&
    (method === undefined || rule.methods === undefined || rule.methods.includes(method)) &&
    (path === undefined || rule.paths === undefined || rule.paths.some((one) => starMatches(one, path)))
  );
}
