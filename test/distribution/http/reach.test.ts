import { expect, test } from 'vitest';
import { maySendTo, reachOfAddress } from '../../../src/distribution/http/reach.ts';

test.each([
  ['127.0.0.1', 'loopback'],
  ['127.9.9.9', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'private'],
  ['::ffff:10.0.0.1', 'private'],
  ['fd12::1', 'private'],
  ['64:ff9b::a00:1', 'private'],
  ['9.9.9.9', 'public'],
  ['2620:fe::fe', 'public'],
  ['169.254.169.254', undefined],
  ['::ffff:169.254.169.254', undefined],
  ['0:0:0:0:0:ffff:a9fe:a9fe', undefined],
  ['fd00:ec2::254', undefined],
  ['fe80::1%eth0', undefined],
  ['100.100.100.200', undefined],
  ['0.0.0.0', undefined],
  ['::', undefined],
  ['224.0.0.1', undefined],
  ['255.255.255.255', undefined],
  ['localhost', undefined],
  ['', undefined],
])('%s is %s', (address, reach) => {
  expect(reachOfAddress(address)).toBe(reach);
});

test('a server sends us only to public servers and to those that are as far away as itself', () => {
  const all = ['public', 'private', 'loopback'] as const;
  const allowed = all.flatMap((from) =>
    all.filter((to) => maySendTo(from, to)).map((to) => `${from} to ${to}`),
  );
  expect(allowed).toEqual([
    'public to public',
    'private to public',
    'private to private',
    'loopback to public',
    'loopback to loopback',
  ]);
});
