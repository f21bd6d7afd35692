/**
 * Decides which servers may receive a secret: its hosts, by the most secure scheme and port that the rules declare.
 *
 * @module
 */
import type { NetworkRule } from '../../manifest/manifest.ts';
import type { GrantedSecret } from '../../policy/grant.ts';
import { hostCovers } from '../../policy/patterns.ts';

/** A checked server. */
export interface Target {
  /** Lower case, without port, an IPv6 address without brackets. */
  host: string;
  port: number;
  isTls: boolean;
}

/**
 * If a host is declared with TLS, its secret is not sent in plain text; if it is declared with the default port, not to
 * another port, where a different program may listen.
 */
export function isFor(secret: GrantedSecret, to: Target, network: readonly NetworkRule[]): boolean {
  if (secret.anyHost === true) return true;
  if (!secret.hosts.some((pattern) => hostCovers(pattern, to.host))) return false;
  const ways = network.filter((rule) => hostCovers(rule.host, to.host)).map(wayOf);
  const secured = ways.filter(({ isTls }) => isTls);
  if (secured.length > 0 && !to.isTls) return false;
  const usual = usualPort(to.isTls);
  const declared = secured.length > 0 ? secured : ways;
  return to.port === usual || !declared.some(({ port }) => port === usual);
}

function wayOf({ scheme = 'https', port }: NetworkRule): Pick<Target, 'port' | 'isTls'> {
  const isTls = scheme === 'https' || scheme === 'wss';
  return { isTls, port: port ?? usualPort(isTls) };
}

function usualPort(isTls: boolean): number {
  return isTls ? 443 : 80;
}
