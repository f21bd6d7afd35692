/**
 * The access file: tokens, scopes, expiry, and invalid files.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { Access } from '../../src/http/access.ts';
import { addToken } from '../../src/http/access-file.ts';
import { isOurHost } from '../../src/http/host-check.ts';
import { startService } from '../../src/http/server.ts';
import { createRuntime } from '../../src/index.ts';
import { folderPerTest } from '../test-folder.ts';

const folder = folderPerTest();
let file: string;

beforeEach(() => {
  file = folder.at('access.json');
});

const bearer = (token: string): string => `Bearer ${token}`;

describe('a token', () => {
  test('is stored only as a digest, in a file only its owner can read', () => {
    const token = addToken(file, { name: 'a', tenant: 'acme', scopes: ['call'] });
    expect(readFileSync(file, 'utf8')).not.toContain(token.slice(4));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(new Access({ file }).identify(bearer(token))).toEqual({
      tenant: 'acme',
      token: 'a',
      scopes: new Set(['call']),
      caller: 'http:acme:a',
    });
  });

  test('is added without changing other content of the file', () => {
    const limits = { tenants: { acme: { rate: { calls: 5, per: '10s' } } } };
    writeFileSync(file, JSON.stringify({ version: 1, ...limits }));
    addToken(file, { name: 'a', tenant: 'acme', scopes: ['call'] });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(limits);
    expect(new Access({ file }).rules.tenants['acme']?.rate).toEqual({ calls: 5, per: 10_000 });
    expect(() => addToken(file, { name: 'a', tenant: 'acme', scopes: ['call'] })).toThrow('already');
  });

  test('ends when it expires and when it is removed from the file', () => {
    const expiresAt = new Date(5000);
    const token = addToken(file, { name: 'a', tenant: 't', scopes: ['call'], expiresAt });
    let now = 4999;
    const access = new Access({ file, now: () => now });
    expect(access.identify(bearer(token))).toBeDefined();
    now = 5000;
    expect(access.identify(bearer(token))).toBeUndefined();
    now = 0;
    writeFileSync(file, '{"version":1}');
    expect(access.identify(bearer(token))).toBeUndefined();
  });

  test.each([
    { name: 'a:b', tenant: 't', scopes: ['call' as const] },
    { name: 'a', tenant: '', scopes: ['call' as const] },
    { name: 'a', tenant: 't', scopes: [] },
  ])('cannot be created with the name $name for the tenant "$tenant"', (token) => {
    expect(() => addToken(file, token)).toThrow('Cannot create the token');
  });

  test('is never accepted for arbitrary text', () => {
    addToken(file, { name: 'a', tenant: 't', scopes: ['admin'] });
    const access = new Access({ file });
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(access.identify(text)).toBeUndefined();
        expect(access.identify(bearer(text))).toBeUndefined();
      }),
    );
  });
});

describe('the HTTP service', () => {
  const start = (host: string): Promise<unknown> =>
    startService({ runtime: createRuntime({ home: folder.path, audit: false }), accessFile: file, host });

  test('refuses to listen on a public address without a token', async () => {
    await expect(start('0.0.0.0')).rejects.toThrow('Refused to listen on 0.0.0.0');
    await expect(start('::')).rejects.toThrow('Refused to listen');
  });

  test.each(['{', '{"version":2}', '{"version":1,"tokens":[{"name":"a"}]}', '{"version":1,"more":1}'])(
    'does not start with the access file %s',
    async (text) => {
      writeFileSync(file, text);
      await expect(start('127.0.0.1')).rejects.toThrow('Cannot read the access file');
    },
  );
});

describe('the Host header', () => {
  test('with a name is accepted only if the name was configured', () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        expect(isOurHost(name, [])).toBe(false);
        expect(isOurHost(`${name}:80`, [name])).toBe(true);
        expect(isOurHost(`evil.${name}`, [name])).toBe(false);
      }),
    );
  });

  test('with an address is accepted, because an address cannot be rebound', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), (four, six) => {
        expect(isOurHost(four, [])).toBe(true);
        expect(isOurHost(`[${six}]:1`, [])).toBe(true);
      }),
    );
  });
});
