/**
 * Whom a secret is for: its hosts, by the best way that the rules declare to them.
 *
 * @module
 */
import type { NetworkRule } from '../../manifest/manifest.ts';
import type { GrantedSecret } from '../../policy/grant.ts';
import { hostCovers } from '../../policy/patterns.ts';

/** A server, as it was checked. */
export interface Target {
  /** Lower case, without port, an IPv6 address without brackets. */
  host: string;
  port: number;
  isTls: boolean;
}

/**
 * Where a host is declared with TLS, its secret does not go there in plain text, and where it is declared with the usual
 * port, not to another: what listens at another port of a machine is another program.
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
