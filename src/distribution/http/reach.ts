/**
 * How far away a server is. A server may send us to servers that are as far away as itself, or public: otherwise, a public
 * server could make this machine send requests to the networks behind it.
 *
 * @module
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { addressList, isPublicAddress } from '../../broker/gateway/addresses.ts';

export type Reach = 'public' | 'private' | 'loopback';

/** No package is ever served from these: unassigned, link-local and multicast addresses, and metadata of clouds. */
const NEVER = [
  '0.0.0.0/8',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.192/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fd00:ec2::254/128',
  'fe80::/10',
  'ff00::/8',
];
const never = addressList(NEVER);
const loopback = addressList(['127.0.0.0/8', '::1/128']);

/** Undefined for an address that no request may go to, and for text that is not an address. */
export function reachOfAddress(text: string): Reach | undefined {
  const address = unmapped(text.replace(/%.*$/, ''));
  if (isIP(address) === 0) return undefined;
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  if (never().check(address, family)) return undefined;
  if (loopback().check(address, family)) return 'loopback';
  return isPublicAddress(address) ? 'public' : 'private';
}

/** The IPv4 address inside `::ffff:a.b.c.d`, in whichever of its spellings. */
function unmapped(address: string): string {
  if (!isIPv6(address)) return address;
  const found = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(new URL(`http://[${address}]`).hostname);
  if (!found) return address;
  const [high = 0, low = 0] = found.slice(1).map((half) => Number.parseInt(half, 16));
  const v4 = [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return isIPv4(v4) ? v4 : address;
}

/** True if a server of the first kind may send us to one of the second. */
export function maySendTo(from: Reach, to: Reach): boolean {
  return to === 'public' || to === from;
}
