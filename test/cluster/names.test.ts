/**
 * Names of tenants, pools and processes in subjects: whatever they contain, a subject has the shape that permissions expect,
 * and two tenants never share one.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeKey, parseKeyRequest } from '../../src/cluster/keys.ts';
import { serverConfig } from '../../src/cluster/server-config.ts';
import {
  consumerOf,
  placeOfConsumer,
  poolName,
  storeOf,
  subjects,
  tenantToken,
  token,
} from '../../src/cluster/names.ts';
import { callerOf } from '../../src/cluster/worker-call.ts';

const HOSTILE = [
  'a.b',
  '*',
  '>',
  'a.*',
  'acme.>',
  'a b',
  '',
  'a\r\nPUB x',
  'ä',
  '.',
  '..',
  'a/b',
  '$JS',
  'x'.repeat(65),
];
const name = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: fc.constantFrom('a', 'B', '9', '.', '_', '-', '*', '>', ' '), maxLength: 70 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const PART = /^[A-Za-z0-9_-]{1,64}$/;

describe('the name of a tenant', () => {
  test('becomes one plain part of every subject, whatever it contains', () => {
    fc.assert(
      fc.property(name, (tenant) => {
        const part = tenantToken(tenant);
        expect(part).toMatch(PART);
        const parts = [subjects.job('default', part), subjects.reply(part, 'web', 'id')].map((one) =>
          one.split('.'),
        );
        expect(parts.map(({ length }) => length)).toEqual([4, 5]);
        for (const each of parts.flat()) expect(each).toMatch(PART);
        expect(subjects.cancel(part, 'id').split('.')).toHaveLength(4);
        expect(subjects.mark(part, 'id').split('.')).toHaveLength(2);
        expect(storeOf(part)).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(placeOfConsumer(consumerOf('default', part))).toEqual({ pool: 'default', tenant: part });
      }),
    );
  });

  test('never has the part of another, also if it looks like one', () => {
    fc.assert(
      fc.property(name, name, (one, other) => {
        fc.pre(one !== other);
        expect(tenantToken(one)).not.toBe(tenantToken(other));
        const part = tenantToken(one);
        if (part !== one) expect(tenantToken(part)).not.toBe(part);
      }),
    );
  });

  test('is refused in a subject unless it was made a part first', () => {
    for (const tenant of HOSTILE) {
      expect(() => subjects.job('default', tenant)).toThrow(expect.objectContaining({ code: 'usage' }));
      expect(() => subjects.mark(tenant, 'id')).toThrow(expect.objectContaining({ code: 'usage' }));
      expect(() => consumerOf('default', tenant)).toThrow(expect.objectContaining({ code: 'usage' }));
    }
  });
});

test.each(HOSTILE)('pools and processes cannot be called %j', (text) => {
  for (const refused of [() => poolName(text), () => token(text), () => parseKeyRequest(`worker:${text}`)])
    expect(refused).toThrow(expect.objectContaining({ code: 'usage' }));
  if (text !== '*' && text !== '')
    expect(() => parseKeyRequest(`front:web:acme:${text}`)).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
});

describe('a caller in a message', () => {
  test('counts only if it is of the tenant of the subject', () => {
    const of = (caller: string, tenant: string): string =>
      callerOf({ caller, front: 'web' }, tenantToken(tenant));
    expect(of('http:acme:app', 'acme')).toBe('http:acme:app');
    expect(of('http:acme.eu:app', 'acme.eu')).toBe('http:acme.eu:app');
    expect(of(`http:acme:oidc:${'0'.repeat(64)}`, 'acme')).toBe(`http:acme:oidc:${'0'.repeat(64)}`);
    expect(of('http:umbrella:app', 'acme')).toBe('http:acme:web');
    expect(of('http:acme:app\n', 'acme')).toBe('http:acme:web');
    expect(of('http:acme.eu:app', 'acme')).toBe('http:acme:web');
    expect(of('cli', 'acme')).toBe('http:acme:web');
  });
});

describe('a key', () => {
  const REFUSED = [
    'worker:w1:acme',
    'worker:w1::gpu',
    'worker:w1:*:gpu',
    'auditor:eve:acme',
    'admin:root:acme',
  ];
  test.each(REFUSED)('whose limit the server cannot keep is refused: %s', (text) => {
    expect(() => makeKey(parseKeyRequest(text))).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test('of a worker of one tenant may not list the queues of all', () => {
    const keys = ['worker:all', 'worker:one:acme:default'].map((text) => makeKey(parseKeyRequest(text)));
    const [all = '', one = ''] = serverConfig(keys, { listen: '127.0.0.1:1', storeDir: '/s' }).split(
      '# worker one',
    );
    expect(all).toContain('CONSUMER.LIST.SC_CALLS');
    expect(one).not.toContain('CONSUMER.LIST');
    expect(one).toContain('CONSUMER.INFO.SC_CALLS.P-default-acme"');
  });
});
