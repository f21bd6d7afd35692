/**
 * Addresses that skills must not reach: the host itself, its network, and reserved ranges.
 *
 * @module
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

const V4_RANGES = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // The host agent of a large cloud provider, whose address looks public.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Nothing outside 2000::/3 is public; inside it, these ranges embed other addresses or are unassigned. */
const V6_RANGES = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const refused = addressList([...V4_RANGES, ...V6_RANGES]);
const global6 = addressList(['2000::/3']);

/** Made at first use, because most commands check no address. */
export function addressList(ranges: readonly string[]): () => BlockList {
  let list: BlockList | undefined;
  return () => (list ??= makeList(ranges));
}

function makeList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    list.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}

export function isPublicAddress(address: string): boolean {
  if (isIPv6(address)) return global6().check(address, 'ipv6') && !refused().check(address, 'ipv6');
  return isIPv4(address) && !refused().check(address, 'ipv4');
}

/** Includes public ones: a program that listens there may trust clients on the same machine. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((one) => (one ?? []).map(({ address }) => address));
}

/** Compares addresses, not their spelling. */
export function isOneOf(address: string, addresses: readonly string[]): boolean {
  const list = new BlockList();
  // A link-local address has a zone suffix, such as `%eth0`.
  for (const one of addresses.map((each) => each.replace(/%.*$/, '')))
    if (isIPv4(one) || isIPv6(one)) list.addAddress(one, isIPv6(one) ? 'ipv6' : 'ipv4');
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
