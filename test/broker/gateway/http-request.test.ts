import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequest, readServer } from '../../../src/broker/gateway/request.ts';
import { BrokerRefusal } from '../../../src/cell/contract.ts';
import { ruleFor } from '../../../src/broker/gateway/rules.ts';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { starMatches } from '../../../src/manifest/star-pattern.ts';

const label = fc
  .stringMatching(/^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$/)
  .filter((text) => !text.startsWith('xn--'));
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => [...labels, 'test'].join('.'));

const covers = (rule: NetworkRule, authority: string, more: Record<string, unknown> = {}): boolean => {
  const args = { method: 'GET', scheme: 'https', authority, path: '/', headers: [], ...more };
  const { method, url } = readRequest(args);
  return ruleFor(method, url, [rule]) !== undefined;
};

describe('hosts', () => {
  it('are exact: no other name, above, below or beside, is covered', () => {
    fc.assert(
      fc.property(host, host, label, (mine, other, more) => {
        const rule = { host: mine };
        expect(covers(rule, mine)).toBe(true);
        expect(covers(rule, mine.toUpperCase())).toBe(true);
        expect(covers(rule, other)).toBe(other === mine);
        for (const near of [`${more}.${mine}`, `${more}${mine}`, `${mine}.${more}`])
          expect(covers(rule, near), near).toBe(false);
      }),
    );
  });

  it('with a star cover one or more labels, and never the bare domain', () => {
    fc.assert(
      fc.property(host, fc.array(label, { minLength: 1, maxLength: 3 }), (domain, labels) => {
        const rule = { host: `*.${domain}` };
        expect(covers(rule, [...labels, domain].join('.'))).toBe(true);
        expect(covers(rule, domain)).toBe(false);
        expect(covers(rule, `${labels[0]}${domain}`)).toBe(false);
        expect(covers(rule, `${domain}.${labels[0]}`)).toBe(false);
      }),
    );
  });
});

describe('a server of a tunnel', () => {
  const strange = fc.constantFrom(
    '.',
    '..',
    '@',
    '%',
    '%2e',
    '/',
    '\\',
    '#',
    '?',
    ' ',
    '\0',
    '\t',
    '[',
    ']',
    'ä',
    '．',
    '①',
    '0x7f',
    '017',
    '1',
    'ⓔ',
  );
  const authority = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.oneof(strange, label), { minLength: 1, maxLength: 6 })
      .map((parts) => `${parts.join('')}:443`),
    fc
      .tuple(fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6()), fc.nat(70_000))
      .map(([host, port]) => `${host}:${port}`),
    fc.tuple(fc.ipV6(), fc.nat(70_000)).map(([host, port]) => `[${host}]:${port}`),
  );

  it('is what was written, or refused: nothing is read as something else', () => {
    fc.assert(
      fc.property(authority, (text) => {
        let server;
        try {
          server = readServer(text);
        } catch (error) {
          expect(error).toBeInstanceOf(BrokerRefusal);
          return;
        }
        const written = server.host.includes(':') ? `[${server.host}]` : server.host;
        expect(`${written}:${server.port}`).toBe(text.toLowerCase());
        expect(server.host).toMatch(/^[a-z0-9_.:-]+$/);
        expect(server.host).not.toMatch(/^\.|\.$|\.\./);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('ports, schemes and methods', () => {
  it.each([
    [{}, 'https', 'a.test', true],
    [{}, 'https', 'a.test:443', true],
    [{}, 'https', 'a.test:444', false],
    [{}, 'http', 'a.test', false],
    [{}, 'http', 'a.test:443', false],
    [{ scheme: 'http' }, 'http', 'a.test', true],
    [{ scheme: 'http' }, 'http', 'a.test:80', true],
    [{ scheme: 'http' }, 'https', 'a.test:80', false],
    [{ scheme: 'http', port: 8080 }, 'http', 'a.test', false],
    [{ port: 8443 }, 'https', 'a.test:8443', true],
    [{ port: 8443 }, 'https', 'a.test', false],
  ] as const)('%j and %s://%s: %s', (...row) => {
    const [rule, scheme, authority, expected] = row;
    expect(covers({ host: 'a.test', ...rule }, authority, { scheme })).toBe(expected);
  });

  it('methods are exact', () => {
    const rule = { host: 'a.test', methods: ['GET', 'HEAD'] };
    expect(covers(rule, 'a.test', { method: 'HEAD' })).toBe(true);
    expect(covers(rule, 'a.test', { method: 'POST' })).toBe(false);
  });
});

describe('path patterns', () => {
  const piece = fc.stringMatching(/^[a-c/]{0,4}$/);

  it('cover just what a regular expression would', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        fc.stringMatching(/^[a-c/]{0,12}$/),
        (parts, path) => {
          const expected = new RegExp(`^${parts.join('.*')}$`).test(path);
          expect(starMatches(parts.join('*'), path)).toBe(expected);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('cover what they were filled in with', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, piece), { minLength: 1, maxLength: 5 }), (pairs) => {
        const pattern = pairs.map(([fixed]) => fixed).join('*');
        const path = pairs.map(([fixed, filled], at) => (at === 0 ? fixed : filled + fixed)).join('');
        expect(starMatches(pattern, path)).toBe(true);
      }),
    );
  });

  it('take no time for many stars', () => {
    expect(starMatches('*a'.repeat(2000), 'a'.repeat(1999))).toBe(false);
    expect(starMatches('*a'.repeat(1999), 'a'.repeat(2000))).toBe(true);
  });

  it('hold for every reading of a path', () => {
    const rule = { host: 'a.test', paths: ['/api/*'] };
    const evil = fc.constantFrom(
      '..',
      '%2e%2e',
      '.%2E',
      '%252e%252e',
      '..%2f',
      '..%5c',
      '%2f',
      'x',
      '.',
      '//',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(evil, { maxLength: 6 }), (segments) => {
        const path = `/api/${segments.join('/')}`;
        if (!covers(rule, 'a.test', { path })) return;
        let decoded = new URL(`https://a.test${path}`).pathname;
        for (let round = 0; round < 3; round++)
          decoded = decoded.replaceAll(/%([0-9a-f]{2})/gi, (_, two: string) =>
            String.fromCharCode(Number.parseInt(two, 16)),
          );
        const kept: string[] = [];
        for (const one of decoded
          .replaceAll('\\', '/')
          .split('/')
          .filter((part) => part !== '' && part !== '.')) {
          if (one === '..') kept.pop();
          else kept.push(one);
        }
        expect(kept[0], path).toBe('api');
      }),
      { numRuns: 1000 },
    );
  });
});
