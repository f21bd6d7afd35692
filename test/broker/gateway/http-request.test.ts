import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequest, readServer } from '../../../src/broker/gateway/request.ts';
import { BrokerRefusal } from '../../../src/cell/contract.ts';
import { OVERRIDE_FIELDS, OVERRIDE_HEADERS } from '../../../src/broker/gateway/overrides.ts';
import { objectionTo } from '../../../src/broker/gateway/rules.ts';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { starMatches } from '../../../src/manifest/star-pattern.ts';
import { words } from '../../words.ts';

const label = fc
  .stringMatching(/^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$/)
  .filter((text) => !text.startsWith('xn--'));
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => [...labels, 'test'].join('.'));

const covers = (rule: NetworkRule, authority: string, more: Record<string, unknown> = {}): boolean => {
  const args = { method: 'GET', scheme: 'https', authority, path: '/', headers: [], ...more };
  return objectionTo(readRequest(args), [rule]) === undefined;
};

describe('a host rule', () => {
  it('is exact: it covers no name above, below or beside it', () => {
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

  it('with a star covers one or more labels, but never the bare domain', () => {
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

describe('the server of a tunnel', () => {
  const strange = fc.constantFrom(
    ...words('. .. @ % %2e / # ? [ ] ä ． ① 0x7f 017 1 ⓔ'),
    '\\',
    ' ',
    '\0',
    '\t',
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

  it('is read exactly as written, or refused', () => {
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

describe('rules for ports, schemes and methods', () => {
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
  ] as const)('compare %j with %s://%s: %s', (...row) => {
    const [rule, scheme, authority, expected] = row;
    expect(covers({ host: 'a.test', ...rule }, authority, { scheme })).toBe(expected);
  });

  it('compare methods exactly', () => {
    const rule = { host: 'a.test', methods: ['GET', 'HEAD'] };
    expect(covers(rule, 'a.test', { method: 'HEAD' })).toBe(true);
    expect(covers(rule, 'a.test', { method: 'POST' })).toBe(false);
  });
});

describe('path patterns', () => {
  const piece = fc.stringMatching(/^[a-c/]{0,4}$/);

  it('match exactly what a regular expression would', () => {
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

  it('match the paths that were filled in', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, piece), { minLength: 1, maxLength: 5 }), (pairs) => {
        const pattern = pairs.map(([fixed]) => fixed).join('*');
        const path = pairs.map(([fixed, filled], at) => (at === 0 ? fixed : filled + fixed)).join('');
        expect(starMatches(pattern, path)).toBe(true);
      }),
    );
  });

  it('take little time for many stars', () => {
    expect(starMatches('*a'.repeat(2000), 'a'.repeat(1999))).toBe(false);
    expect(starMatches('*a'.repeat(1999), 'a'.repeat(2000))).toBe(true);
  });

  it('must hold for every reading of a path', () => {
    const rule = { host: 'a.test', paths: ['/api/*'] };
    const evil = fc.constantFrom(...words('.. %2e%2e .%2E %252e%252e ..%2f ..%5c %2f x . //'), '\\');
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

  it.each([
    '/api/..;/admin',
    '/api/..;a=b/admin',
    '/api/..%3b/admin',
    '/api/..%3Ba=b/admin',
    '/api/..%00/admin',
    '/api/x%00',
    '/api/.%09./admin',
    '/api/%c0%ae%c0%ae/admin',
    '/api/%e0%80%ae./admin',
    '/api/%u002e%u002e/admin',
    '/api/%25u002e%25u002e/admin',
    '/api/%',
    '/api/%2',
    '/api/%zz',
    '/api/x%0d%0aSet-Cookie:a',
    '/api/%7f',
    '/api/..%20/admin',
    '/api/.../admin',
    '/api/..%20%5capi..',
    '/api/..%20./admin',
    '/api/%ef%bc%8e%ef%bc%8e/admin',
    '/api/..%ef%bc%8fadmin',
    '/api/..%e2%88%95admin',
    '/api/%e2%80%a5/admin',
    '/api/x;%2f..%2f..%2fadmin',
    '/api/x//..%2f..%2fadmin',
    '/api/%2525252e%2525252e/admin',
    '/api/..%255c..%255cadmin',
    '/api/%ff',
  ])('refuse a path that some server reads as another: %s', (path) => {
    expect(covers({ host: 'a.test', paths: ['/api/*'] }, 'a.test', { path })).toBe(false);
    expect(covers({ host: 'a.test' }, 'a.test', { path })).toBe(true);
  });

  it.each([
    '/api/v1/items',
    '/api/a%20b',
    '/api/100%25',
    '/api/caf%C3%A9/voil%C3%A0',
    '/api/%E2%9C%93',
    '/api/items;v=2',
    '/api/a%2Fb',
    '/api/file.tar.gz',
    '/api/a:b@c,d+e!$&*()=~',
    '/api//x/',
    '/api/what%3F',
  ])('match an ordinary path: %s', (path) => {
    expect(covers({ host: 'a.test', paths: ['/api/*'] }, 'a.test', { path })).toBe(true);
  });

  it('treat a parameter of a segment as a part that a server may ignore', () => {
    const rule = { host: 'a.test', paths: ['/api/*/public'] };
    expect(covers(rule, 'a.test', { path: '/api/x/public' })).toBe(true);
    expect(covers(rule, 'a.test', { path: '/api/secret;/public' })).toBe(true);
    expect(covers(rule, 'a.test', { path: '/api/secret;%2fpublic' })).toBe(false);
    expect(covers(rule, 'a.test', { path: '/api/secret%3f/public' })).toBe(false);
    expect(covers(rule, 'a.test', { path: '/api/secret%23/public' })).toBe(false);
  });

  it('hold for many kinds of servers', () => {
    const undo = (path: string): string =>
      path.replaceAll(/%([0-9a-f]{2})/gi, (_, two: string) => String.fromCharCode(Number.parseInt(two, 16)));
    const resolve = (path: string): string => {
      const kept: string[] = [];
      for (const one of path.split('/').filter((part) => part !== '' && part !== '.'))
        if (one === '..') kept.pop();
        else kept.push(one);
      return `/${kept.join('/')}`;
    };
    const plain = (path: string): string => path.replaceAll(/;[^/]*/g, '');
    const slashes = (path: string): string => path.replaceAll('\\', '/');
    const utf8 = (path: string): string => Buffer.from(path, 'latin1').toString().normalize('NFKC');
    const servers: ((path: string) => string)[] = [
      (path) => resolve(undo(path)),
      (path) => resolve(plain(undo(path))),
      (path) => resolve(undo(plain(path))),
      (path) => resolve(undo(resolve(undo(plain(path))))),
      (path) => resolve(slashes(undo(undo(path)))),
      (path) => resolve(utf8(undo(path))),
      (path) => resolve(undo(path).replace(/\0[^]*$/, '')),
      (path) => resolve(undo(path).split('?')[0] ?? ''),
      (path) =>
        resolve(
          slashes(utf8(undo(path)))
            .split('/')
            .map((one) => one.replace(/(?<=\.\.) +$/, ''))
            .join('/'),
        ),
    ];
    const token = fc.constantFrom(
      ...'.. . ; ; / \\ x %2e %2E %2f %5c %3b %252e %25 %00 %09 %20 %3f %23 a=b %c0%ae %ef%bc%8e %e2%80%a5 %u002e api'.split(
        ' ',
      ),
    );
    let covered = 0;
    fc.assert(
      fc.property(fc.array(token, { maxLength: 9 }), (tokens) => {
        const path = `/api/${tokens.join('')}`;
        if (!covers({ host: 'a.test', paths: ['/api', '/api/*'] }, 'a.test', { path })) return;
        covered++;
        const sent = new URL(`https://a.test${path}`).pathname;
        for (const server of servers) expect(`${server(sent)}/`, path).toMatch(/^\/api\//);
      }),
      { numRuns: 20_000 },
    );
    expect(covered).toBeGreaterThan(100);
  });

  it('take little time for many readings', () => {
    const path = `/api/${'..;%2e%2f\\//%3b '.replaceAll(' ', '').repeat(500)}`;
    expect(covers({ host: 'a.test', paths: ['/api/*'] }, 'a.test', { path })).toBe(false);
    expect(
      covers({ host: 'a.test', paths: ['/api/*'] }, 'a.test', { path: `/api/${'.'.repeat(8000)}x` }),
    ).toBe(true);
  });
});

describe('a header or field that overrides the request', () => {
  const variants = OVERRIDE_HEADERS.flatMap((name) => [name, name.toUpperCase(), name.replaceAll('-', '_')]);
  it.each(variants)('is refused if a rule has methods or paths: %s', (name) => {
    const more = { headers: [[name, 'DELETE']] };
    expect(covers({ host: 'a.test', methods: ['GET'] }, 'a.test', more)).toBe(false);
    expect(covers({ host: 'a.test', paths: ['/*'] }, 'a.test', more)).toBe(false);
    expect(covers({ host: 'a.test' }, 'a.test', more)).toBe(true);
  });

  it.each(OVERRIDE_FIELDS)('is refused as a query field: %s', (name) => {
    const more = { path: `/?a=b&${name.replace('m', '%6d')}=DELETE` };
    expect(covers({ host: 'a.test', methods: ['GET'] }, 'a.test', more)).toBe(false);
    expect(covers({ host: 'a.test' }, 'a.test', more)).toBe(true);
  });

  it('is named in the error', () => {
    const args = {
      method: 'GET',
      scheme: 'https',
      authority: 'a.test',
      path: '/',
      headers: [['X-HTTP-Method', 'PUT']],
    };
    expect(objectionTo(readRequest(args), [{ host: 'a.test', methods: ['GET'] }])).toBe(
      'its header "x-http-method" could make it another request than the rule covers',
    );
  });
});

describe('a second path in a request', () => {
  const rule: NetworkRule = { host: 'a.test', methods: ['MOVE'], paths: ['/mine/*'] };
  const move = (destination: string): boolean =>
    covers(rule, 'a.test', { method: 'MOVE', path: '/mine/a', headers: [['Destination', destination]] });

  it.each(['https://a.test/mine/b', '/mine/b', 'b'])(
    'is accepted if the rule covers it too: %s',
    (destination) => expect(move(destination)).toBe(true),
  );

  it.each([
    'https://a.test/other/b',
    '/other/b',
    '../b',
    '/mine/%2e%2e/b',
    '/mine/..;/b',
    'https://b.test/mine/b',
    'http://a.test/mine/b',
    'https://',
  ])('is refused if no rule covers it: %s', (destination) => expect(move(destination)).toBe(false));
});

describe('a query field that overrides the method', () => {
  it.each([
    'a=1;_method=PUT',
    '.method=PUT',
    '%20_method=PUT',
    '[method=PUT',
    '_method[]=PUT',
    'X_HTTP_Method=PUT',
  ])('is recognized in every spelling that servers accept: %s', (query) => {
    const more = { path: `/?${query}` };
    expect(covers({ host: 'a.test', methods: ['GET'] }, 'a.test', more)).toBe(false);
    expect(covers({ host: 'a.test' }, 'a.test', more)).toBe(true);
  });

  it.each(['method=PUT', 'a_method=x', 'payment_method=card', 'q=_method', '[a]=b'])(
    'is not mistaken for another field: %s',
    (query) =>
      expect(covers({ host: 'a.test', methods: ['GET'] }, 'a.test', { path: `/?${query}` })).toBe(true),
  );
});
