import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Records } from '../../../src/broker/records.ts';
import { openSecrets } from '../../../src/broker/secrets/cell-secrets.ts';
import type { Target } from '../../../src/broker/secrets/audience.ts';
import type { CellSecrets, RequestHead } from '../../../src/broker/secrets/contract.ts';
import { BrokerRefusal } from '../../../src/cell/contract.ts';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';

const VALUE = 'sk-inv "ented" & söme/+value';
const PLACEHOLDER = 'sk-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6';
const OTHER = 'ghp_Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4';

interface Opened {
  secrets: CellSecrets;
  records: Records;
}

function open({ value = VALUE, armed = true }: { value?: string; armed?: boolean } = {}): Opened {
  const records = new Records();
  const secrets = openSecrets({
    granted: [
      { name: 'KEY', hosts: ['api.test', '*.sub.test'], required: true },
      { name: 'OTHER', hosts: ['other.test'], required: true },
    ],
    network: [{ host: 'api.test' }],
    placeholders: { KEY: PLACEHOLDER, OTHER },
    records,
  });
  if (armed)
    secrets.arm(
      new Map([
        ['KEY', value],
        ['OTHER', 'invented-other'],
      ]),
    );
  return { secrets, records };
}

const API: Target = { host: 'api.test', port: 443, isTls: true };
const ELSE: Target = { ...API, host: 'else.test' };

const head = (parts: Partial<RequestHead> = {}): RequestHead => ({
  ...API,
  path: '/',
  headers: {},
  ...parts,
});

function bodyOf(
  secrets: CellSecrets,
  body: string,
  { type = '', host = 'api.test', pieces = [body.length] } = {},
): string {
  const filter = secrets.bodyFilter(head({ host, headers: type === '' ? {} : { 'content-type': [type] } }));
  const bytes = Buffer.from(body);
  const out: Uint8Array[] = [];
  let at = 0;
  for (const length of [...pieces, bytes.length]) {
    out.push(filter.push(bytes.subarray(at, at + length)));
    at += length;
  }
  return Buffer.concat([...out, filter.end()]).toString();
}

describe('a request to a declared host', () => {
  it('gets its headers filled in, including Basic credentials', () => {
    const { secrets } = open({ value: 'invented:väl' });
    const basic = `Basic ${Buffer.from(`user:${PLACEHOLDER}`).toString('base64')}`;
    const { headers } = secrets.fillHead(
      head({ headers: { 'x-key': [`Bearer ${PLACEHOLDER}`, 'plain'], authorization: [basic] } }),
    );
    expect(Buffer.from(headers['x-key']?.[0] ?? '', 'latin1').toString()).toBe('Bearer invented:väl');
    expect(headers['x-key']?.[1]).toBe('plain');
    const sent = Buffer.from(headers['authorization']?.[0]?.slice('Basic '.length) ?? '', 'base64');
    expect(sent.toString()).toBe('user:invented:väl');
  });

  it('keeps Basic credentials without a placeholder unchanged', () => {
    const authorization = ['basic dXNlcjpwYXNz'];
    expect(open().secrets.fillHead(head({ headers: { authorization } })).headers['authorization']).toEqual(
      authorization,
    );
  });

  it('gets its path and query filled in, and the value stays one segment and one field', () => {
    const { path } = open().secrets.fillHead(
      head({ path: `/bot${PLACEHOLDER}/send?key=${PLACEHOLDER}&next=?${PLACEHOLDER}` }),
    );
    const url = new URL(path, 'http://api.test');
    expect(url.pathname.split('/')).toHaveLength(3);
    expect(decodeURIComponent(url.pathname)).toBe(`/bot${VALUE}/send`);
    expect([...url.searchParams]).toEqual([
      ['key', VALUE],
      ['next', `?${VALUE}`],
    ]);
  });

  it('gets its body filled in with the encoding of its type', () => {
    const { secrets } = open();
    const inJson = bodyOf(secrets, JSON.stringify({ key: PLACEHOLDER }), { type: 'application/json' });
    expect(JSON.parse(inJson)).toEqual({ key: VALUE });
    const inForm = bodyOf(secrets, `key=${PLACEHOLDER}&a=1`, {
      type: 'application/x-www-form-urlencoded; charset=utf-8',
    });
    expect([...new URLSearchParams(inForm)]).toEqual([
      ['key', VALUE],
      ['a', '1'],
    ]);
    expect(bodyOf(secrets, `<${PLACEHOLDER}>`, { type: 'text/plain' })).toBe(`<${VALUE}>`);
  });

  it('gets its body filled in wherever it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 30 }), (pieces) => {
        const { secrets } = open();
        expect(bodyOf(secrets, `a ${PLACEHOLDER} b ${PLACEHOLDER}`, { pieces })).toBe(
          `a ${VALUE} b ${VALUE}`,
        );
      }),
    );
  });

  it('with a compressed body is not filled in, and is refused if the secret is not for the server', () => {
    const through = (body: string, to: Target): string => {
      const filter = open().secrets.bodyFilter(head({ ...to, headers: { 'content-encoding': ['gzip'] } }));
      return Buffer.concat([filter.push(Buffer.from(body)), filter.end()]).toString();
    };
    expect(through(`a ${PLACEHOLDER} b`, API)).toBe(`a ${PLACEHOLDER} b`);
    for (const body of [PLACEHOLDER, Buffer.from(PLACEHOLDER).toString('base64'), VALUE, `x${OTHER}`])
      expect(() => through(body, ELSE), body).toThrow(/exfiltration/);
    expect(() => through(OTHER, API)).toThrow(/exfiltration/);
  });

  it('asks for a response that can be scrubbed', () => {
    const { secrets } = open();
    const headers = { 'accept-encoding': ['gzip, br'] };
    expect(secrets.fillHead(head({ headers })).headers['accept-encoding']).toEqual(['identity']);
    expect(secrets.fillHead(head({ host: 'else.test', headers })).headers).toEqual(headers);
  });

  it('is refused if a value would end a header', () => {
    const { secrets } = open({ value: 'invented\r\nx-injected: 1' });
    expect(() => secrets.fillHead(head({ headers: { 'x-key': [PLACEHOLDER] } }))).toThrow(BrokerRefusal);
    expect(secrets.fillHead(head({ path: `/?k=${PLACEHOLDER}` })).path).toBe(
      '/?k=invented%0D%0Ax-injected%3A%201',
    );
  });
});

describe('a request to any other host', () => {
  const base64 = Buffer.from(`ab${PLACEHOLDER}c`).toString('base64');
  const encoded = [...Buffer.from(PLACEHOLDER)].map((byte) => `%${byte.toString(16)}`).join('');
  it.each<[string, Partial<RequestHead>]>([
    ['in a header', { headers: { 'x-a': [`Bearer ${PLACEHOLDER}`] } }],
    ['in the query', { path: `/?k=${PLACEHOLDER}` }],
    ['in the path', { path: `/${PLACEHOLDER}` }],
    ['URL-encoded', { path: `/?k=${encoded}` }],
    ['in hexadecimal', { path: `/?k=${Buffer.from(PLACEHOLDER).toString('hex').toUpperCase()}` }],
    ['in base64', { headers: { cookie: [base64] } }],
    ['in base64 within a URL', { path: `/?k=${encodeURIComponent(base64)}` }],
    ['as a password', { headers: { authorization: [`Basic ${btoa(`u:${PLACEHOLDER}`)}`] } }],
    ['of another secret to a host of this one', { host: 'api.test', headers: { 'x-a': [OTHER] } }],
    ['to a bare domain', { host: 'sub.test', headers: { 'x-a': [PLACEHOLDER] } }],
  ])('is refused and recorded if it has a placeholder: %s', (_, parts) => {
    const { secrets, records } = open();
    expect(() => secrets.fillHead(head({ host: 'evil.test', ...parts }))).toThrow(
      expect.objectContaining({ code: 'denied' }) as Error,
    );
    const host = parts.host ?? 'evil.test';
    const name = parts.host === 'api.test' ? 'OTHER' : 'KEY';
    expect(records.denied).toMatchObject([{ capability: 'secret', asked: `send ${name} to ${host}` }]);
    expect(records.denied[0]?.declared).toContain('exfiltration attempt');
    expect(JSON.stringify(records.denied)).not.toContain('invented');
  });

  it('is refused if the body has a placeholder, wherever it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 30 }), fc.boolean(), (pieces, isEncoded) => {
        const { secrets, records } = open();
        const body = isEncoded ? btoa(`abc${PLACEHOLDER}`) : `abc${PLACEHOLDER}`;
        expect(() => bodyOf(secrets, body, { host: 'evil.test', pieces })).toThrow(BrokerRefusal);
        expect(records.denied).toHaveLength(1);
      }),
    );
  });

  it('passes with an incomplete placeholder, which has no effect', () => {
    const { secrets, records } = open();
    const parts = { 'x-a': [PLACEHOLDER.slice(0, 20)], 'x-b': [PLACEHOLDER.slice(20)] };
    expect(secrets.fillHead(head({ headers: parts })).headers).toMatchObject(parts);
    expect(records.denied).toEqual([]);
  });
});

it('placeholders are not filled in before the call', () => {
  const { secrets, records } = open({ armed: false });
  expect(() => secrets.fillHead(head({ headers: { 'x-a': [PLACEHOLDER] } }))).toThrow(BrokerRefusal);
  expect(records.denied).toHaveLength(1);
});

describe('a response', () => {
  it('is scrubbed without a change of its length', () => {
    const { secrets } = open();
    const filter = secrets.responseFilter(API);
    const b64 = Buffer.from(`x ${VALUE}`).toString('base64');
    const body = Buffer.from(`{"echo": ${JSON.stringify(VALUE)}, "b64": "${b64}"}`);
    const covered = Buffer.concat([filter?.push(body) ?? body, filter?.end() ?? body]);
    expect(covered).toHaveLength(body.length);
    expect(covered.toString()).toMatch(/^\{"echo": "\*+", "b64": "[^"*]{0,3}\*+[^"*]?=*"\}$/);
  });

  it('has its headers scrubbed', () => {
    expect(open().secrets.coverText(`/?k=${encodeURIComponent(VALUE)}&x=1`, API)).toMatch(/^\/\?k=\*+&x=1$/);
  });

  it('stays unchanged if there is no secret', () => {
    const secrets = openSecrets({ granted: [], network: [], placeholders: {}, records: new Records() });
    expect(secrets.responseFilter(API)).toBeUndefined();
    expect(secrets.coverText('text', API)).toBe('text');
    expect(secrets.fillHead(head({ path: '/a?b', headers: { a: ['b'] } }))).toEqual(
      head({ path: '/a?b', headers: { a: ['b'] } }),
    );
  });
});

describe('a response from a server that never received a value', () => {
  it('stays unchanged, because scrubbing a correct guess would confirm it', () => {
    const { secrets } = open();
    expect(secrets.responseFilter(ELSE)).toBeUndefined();
    expect(secrets.coverText(VALUE, ELSE)).toBe(VALUE);
    const ofOther = secrets.responseFilter({ ...API, host: 'other.test' });
    const seen = Buffer.concat([
      ofOther?.push(Buffer.from(VALUE)) ?? Buffer.of(),
      ofOther?.end() ?? Buffer.of(),
    ]);
    expect(seen.toString()).toBe(VALUE);
  });

  it('is scrubbed at most a thousand times, so that guesses cannot be checked without end', () => {
    const { secrets } = open();
    const cover = (): string => secrets.coverText(encodeURIComponent(VALUE), API);
    for (let times = 0; times < 1024; times++) expect(cover()).toMatch(/^\*+$/);
    expect(cover).toThrow(BrokerRefusal);
  });
});

describe('a secret value sent to a server that it is not for', () => {
  const strong = 'invented0123456789ABCDEF';
  const spelled: [string, Partial<RequestHead>][] = [
    ['in a header', { headers: { 'x-a': [`Bearer ${strong}`] } }],
    ['in the query', { path: `/?k=${strong}` }],
    ['in base64', { headers: { cookie: [btoa(`a${strong}b`)] } }],
    ['in hexadecimal', { path: `/${Buffer.from(strong).toString('hex')}` }],
    ['with percent signs', { path: `/?k=${strong.replaceAll('e', '%65')}` }],
    ['to another port of its host', { host: 'api.test', port: 8443, headers: { 'x-a': [strong] } }],
    ['in plain text to its host', { host: 'api.test', port: 80, isTls: false, headers: { 'x-a': [strong] } }],
  ];
  it.each(spelled)('is refused like the placeholder: %s', (_, parts) => {
    const { secrets, records } = open({ value: strong });
    const to = head({ ...ELSE, ...parts });
    expect(() => secrets.fillHead(to)).toThrow(expect.objectContaining({ code: 'denied' }) as Error);
    expect(records.denied).toMatchObject([{ capability: 'secret', asked: `send KEY to ${to.host}` }]);
  });

  it('is refused in a body before any byte leaves', () => {
    const { secrets } = open({ value: strong });
    const filter = secrets.bodyFilter(head(ELSE));
    expect(filter.push(Buffer.from(strong))).toHaveLength(0);
    expect(() => filter.end()).toThrow(BrokerRefusal);
  });

  it('ends the network access of the call, so that a call can confirm only one guess', () => {
    const { secrets } = open({ value: strong });
    expect(() => secrets.fillHead(head({ ...ELSE, path: `/${strong}` }))).toThrow(BrokerRefusal);
    expect(() => secrets.fillHead(head({ ...ELSE, path: '/harmless' }))).toThrow(BrokerRefusal);
    expect(() => secrets.fillHead(head())).toThrow(BrokerRefusal);
  });

  it('is searched for in a limited number of bytes per call', () => {
    const { secrets, records } = open({ value: strong });
    const fill = (body: string): string => bodyOf(secrets, body, { host: 'else.test' });
    fill('x'.repeat(1024 * 1024));
    expect(fill(strong)).toBe(strong);
    expect(records.denied).toEqual([]);
  });

  it.each(['12345678901234', 'abcdef0123456', 'sk-abc12345'])(
    'is not searched for if it could be found by trying: %s',
    (value) => {
      const { secrets, records } = open({ value });
      secrets.fillHead(head({ ...ELSE, path: `/${value}` }));
      expect(records.denied).toEqual([]);
    },
  );
});

describe('a secret is bound to the best route that the rules declare to its host', () => {
  const granted = [{ name: 'KEY', hosts: ['api.test'], required: true }];
  const fills = (network: NetworkRule[], to: Partial<Target>): boolean => {
    const secrets = openSecrets({
      granted,
      network,
      placeholders: { KEY: PLACEHOLDER },
      records: new Records(),
    });
    secrets.arm(new Map([['KEY', 'invented-0123456789']]));
    try {
      return secrets.fillHead(head({ ...to, path: `/${PLACEHOLDER}` })).path.includes('invented');
    } catch {
      return false;
    }
  };
  const plain = { port: 80, isTls: false };
  it.each<[string, NetworkRule[], Partial<Target>, boolean]>([
    ['TLS where it is declared', [{ host: 'api.test' }, { host: 'api.test', scheme: 'http' }], {}, true],
    ['no plain text beside TLS', [{ host: 'api.test' }, { host: 'api.test', scheme: 'http' }], plain, false],
    ['plain text where nothing else is declared', [{ host: 'api.test', scheme: 'http' }], plain, true],
    [
      'no other port beside the usual one',
      [{ host: 'api.test' }, { host: 'api.test', port: 8443 }],
      { port: 8443 },
      false,
    ],
    ['another port where it is the only one', [{ host: 'api.test', port: 8443 }], { port: 8443 }, true],
    ['a pattern of a rule counts', [{ host: '*.test' }, { host: 'api.test', scheme: 'http' }], plain, false],
    [
      'a WebSocket with TLS counts',
      [
        { host: 'api.test', scheme: 'wss' },
        { host: 'api.test', scheme: 'http' },
      ],
      plain,
      false,
    ],
  ])('%s', (...row) => {
    const [, network, to, expected] = row;
    expect(fills(network, to)).toBe(expected);
  });
});
