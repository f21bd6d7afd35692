/**
 * Tells which addresses only this machine can reach. All servers share this check, because it decides whether they require a token.
 *
 * @module
 */
import { BlockList, isIP } from 'node:net';

/** True for `localhost` and loopback addresses in any spelling. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host === 'localhost';
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
