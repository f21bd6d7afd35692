import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Denial } from '../../../src/broker/denial.ts';
import { Records } from '../../../src/broker/records.ts';
import { Checks } from '../../../src/broker/gateway/checks.ts';
import { readRequest } from '../../../src/broker/gateway/request.ts';
import { grantOf } from '../support.ts';
import { isOneOf, isPublicAddress, ownAddresses } from '../../../src/broker/gateway/addresses.ts';
import { words } from '../../words.ts';

/** From the registries of special addresses: first and last address of each range, and its purpose. */
const SPECIAL_V4: [string, string][] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
];

const toNumber = (address: string): number =>
  address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
const toText = (number: number): string => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
const hex = (number: number): string => `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
const isSpecial = (number: number): boolean =>
  SPECIAL_V4.some(([first, last]) => number >= toNumber(first) && number <= toNumber(last));

const anyV4 = fc.oneof(
  fc.integer({ min: 0, max: 0xffff_ffff }),
  fc.constantFrom(...SPECIAL_V4).chain(([first, last]) => {
    return fc.integer({
      min: Math.max(0, toNumber(first) - 2),
      max: Math.min(0xffff_ffff, toNumber(last) + 2),
    });
  }),
);

describe('the check of public addresses', () => {
  it('allows exactly the IPv4 addresses outside the special ranges', () => {
    fc.assert(
      fc.property(anyV4, (number) => {
        expect(isPublicAddress(toText(number))).toBe(!isSpecial(number));
      }),
      { numRuns: 2000 },
    );
    for (const [first, last] of SPECIAL_V4) {
      expect(isPublicAddress(first), first).toBe(false);
      expect(isPublicAddress(last), last).toBe(false);
    }
  });

  it('allows no IPv4 address embedded in IPv6, public or not', () => {
    fc.assert(
      fc.property(anyV4, (number) => {
        const spellings = [
          `::ffff:${toText(number)}`,
          `::ffff:${hex(number)}`,
          `0:0:0:0:0:FFFF:${hex(number)}`,
          `::${toText(number)}`,
          `::ffff:0:${toText(number)}`,
          `64:ff9b::${toText(number)}`,
          `64:ff9b:1::${hex(number)}`,
          `2002:${hex(number)}::1`,
          `2001:0:${hex(number)}::1`,
        ];
        for (const spelling of spellings) expect(isPublicAddress(spelling), spelling).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '::',
    '::1',
    '100::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'fc00::1',
    'fdff::1',
    'fd00:ec2::254',
    'ff02::1',
    '2001:db8::1',
    '2001:10::1',
    '2001:20::1',
    '2001:1ff:ffff::1',
    '3fff::1',
    '3fff:fff::1',
    '4000::1',
    '5f00::1',
    '1fff::1',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(words('2001:200::1 2600::1 2a00:1450:4001::8 2001:4860:4860::8888 3ffe::1 8.8.8.8 1.1.1.1'))(
    'allows %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([...words('localhost 127.1 0x7f.0.0.1 2130706433 [::1] 1.2.3.4.5 1.2.3.4/8'), '', '127.0.0.1 '])(
    'does not accept %j as an address',
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

describe('the addresses of the machine itself', () => {
  it('include those of all its interfaces and loopback', () => {
    expect(ownAddresses()).toContain('127.0.0.1');
  });

  it.each([
    ['93.184.215.14', true],
    ['93.184.215.15', false],
    ['2606:2800:21f::1', true],
    ['2606:2800:021f:0:0:0:0:1', true],
    ['2606:2800:21f::2', false],
    ['fe80::1', true],
  ])('are recognized in every spelling: %s', (address, expected) => {
    const own = ['93.184.215.14', '2606:2800:21f:0::1', 'fe80::1%eth0'];
    expect(isOneOf(address, own)).toBe(expected);
  });

  it('are refused even for a name or a rule that has them, and looked up again for each request', async () => {
    const own: string[] = [];
    const network = [
      { host: 'mine.test', scheme: 'http' as const },
      { host: '93.184.215.14', scheme: 'http' as const },
    ];
    const lookup = async (): Promise<string[]> => ['93.184.215.14'];
    const records = new Records();
    const checks = new Checks({ grant: grantOf({ network }), records, lookup, own: () => own, maxNames: 8 });
    const ask = (authority: string): Promise<string[]> =>
      checks.request(readRequest({ method: 'GET', scheme: 'http', authority, path: '/', headers: [] }));
    expect(await ask('mine.test')).toEqual(['93.184.215.14']);
    expect(await ask('93.184.215.14')).toEqual(['93.184.215.14']);
    own.push('93.184.215.14');
    await expect(ask('mine.test')).rejects.toThrow(Denial);
    await expect(ask('93.184.215.14')).rejects.toThrow(Denial);
    expect(records.denied.at(-1)?.declared).toBe('93.184.215.14 is an address of this machine');
  });
});
