/**
 * Which addresses only this machine can reach. Whether a token is demanded depends on it, so there is one answer for all.
 *
 * @module
 */
import { BlockList, isIP } from 'node:net';

/** True for `localhost` and the addresses of the loopback, however they are written; anything else is for others too. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host === 'localhost';
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
