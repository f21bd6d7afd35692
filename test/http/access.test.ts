/**
 * The access file: tokens, their scopes and their end, and what the service makes of a file that is wrong.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Access } from '../../src/http/access.ts';
import { addToken } from '../../src/http/access-file.ts';
import { isOurHost } from '../../src/http/host-check.ts';
import { startService } from '../../src/http/server.ts';
import { createRuntime } from '../../src/index.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-access-'));
  file = join(folder, 'access.json');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bearer = (token: string): string => `Bearer ${token}`;

describe('a token', () => {
  test('is known by its digest alone, in a file for its owner alone', () => {
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

  test('leaves what else is in the file as it is', () => {
    const limits = { tenants: { acme: { rate: { calls: 5, per: '10s' } } } };
    writeFileSync(file, JSON.stringify({ version: 1, ...limits }));
    addToken(file, { name: 'a', tenant: 'acme', scopes: ['call'] });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(limits);
    expect(new Access({ file }).rules.tenants['acme']?.rate).toEqual({ calls: 5, per: 10_000 });
    expect(() => addToken(file, { name: 'a', tenant: 'acme', scopes: ['call'] })).toThrow('already');
  });

  test('ends at its time, and when it is taken out of the file', () => {
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
  ])('cannot be $name of "$tenant"', (token) => {
    expect(() => addToken(file, token)).toThrow('No token');
  });

  test('is nothing that anybody could send by chance', () => {
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

describe('a service', () => {
  const start = (host: string): Promise<unknown> =>
    startService({ runtime: createRuntime({ home: folder, audit: false }), accessFile: file, host });

  test('that others can reach is refused without a token', async () => {
    await expect(start('0.0.0.0')).rejects.toThrow('Refused to listen on 0.0.0.0');
    await expect(start('::')).rejects.toThrow('Refused to listen');
  });

  test.each(['{', '{"version":2}', '{"version":1,"tokens":[{"name":"a"}]}', '{"version":1,"more":1}'])(
    'with the access file %s does not start',
    async (text) => {
      writeFileSync(file, text);
      await expect(start('127.0.0.1')).rejects.toThrow('Cannot read the access file');
    },
  );
});

describe('a host', () => {
  test('by name is ours only if it was named', () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        expect(isOurHost(name, [])).toBe(false);
        expect(isOurHost(`${name}:80`, [name])).toBe(true);
        expect(isOurHost(`evil.${name}`, [name])).toBe(false);
      }),
    );
  });

  test('by address cannot be rebound', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), (four, six) => {
        expect(isOurHost(four, [])).toBe(true);
        expect(isOurHost(`[${six}]:1`, [])).toBe(true);
      }),
    );
  });
});
