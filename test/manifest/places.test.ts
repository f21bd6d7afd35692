import { posix } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filesystemPathProblem, hostProblem, urlPathProblem } from '../../src/manifest/places.ts';
import { words } from '../words.ts';

describe('the check of hosts', () => {
  it.each(words('api.etherscan.io *.example.com localhost 127.0.0.1 ::1 2001:db8::1 xn--bcher-kva.example'))(
    'accepts %s',
    (host) => {
      expect(hostProblem(host)).toBeUndefined();
    },
  );

  it.each([
    '',
    '*',
    '*.com',
    '*.*.com',
    'a.*.com',
    'API.example.com',
    'https://a.com',
    'a.com:443',
    'u@a.com',
    'a.com/x',

    'a.com.',
    '.a.com',
    'a..com',
    '-a.com',
    'a_b.com',
    'exämple.com',
    'exаmple.com',
    'a.com\n',
    ' a.com',
    'a\0.com',

    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '010.0.0.1',
    '0x7f000001',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    'fe80::1%eth0',
    '2001:DB8::1',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
  ])('refuses %j', (host) => {
    expect(hostProblem(host)).toBeTypeOf('string');
  });

  it('accepts only hosts that a URL parser reads as exactly the same host', () => {
    const letters = fc.constantFrom(...Array.from('abz019-.*:@/%[]xX_ \n\0ä。'));
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 12 }), (host) => {
        if (hostProblem(host) !== undefined || host.startsWith('*.')) return;
        const literal = host.includes(':') ? `[${host}]` : host;
        expect(new URL(`http://${literal}/`).hostname).toBe(literal);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the check of file system paths', () => {
  it.each([
    ...words('data data/a.json . /srv/data ${workspace} ..data a..b über/ß'),
    '${workspace}/in voices',
  ])('accepts %s', (path) => {
    expect(filesystemPathProblem(path)).toBeUndefined();
  });

  it.each([
    '',
    '..',
    '../x',
    'a/../b',
    '/..',
    '/a/../b',
    '${workspace}/..',
    '${workspace}/../x',
    '${workspace}x',

    '/',
    '//',
    '/a//b',
    './a',
    'a/.',
    '/a/',
    'a/',
    '~/x',
    '~root',
    '${home}/x',
    'a/${workspace}',
    '${workspace}/${x}',
    'a\0b',
    'a\nb',
    'a\u202eb',
    'a\\b',
    'data/*',
    '/srv/**',
    '\u001b[31m',
    `/${'a'.repeat(2000)}`,
  ])('refuses %j', (path) => {
    expect(filesystemPathProblem(path)).toBeTypeOf('string');
  });

  it('accepts only paths that stay below their start', () => {
    const letters = fc.constantFrom(...Array.from('ab./\\~*${}\0\n '), '..', '${workspace}', '/../');
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 10 }), (path) => {
        if (filesystemPathProblem(path) !== undefined) return;
        const resolved = posix.resolve('/base', path.replace('${workspace}', '/base/workspace'));
        expect(posix.normalize(path)).toBe(path);
        expect(resolved === '/base' || path.startsWith('/') || resolved.startsWith('/base/')).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the check of URL paths', () => {
  it.each(['/', '/api*', '/v1/x.json', '/%41'])('accepts %s', (path) => {
    expect(urlPathProblem(path)).toBeUndefined();
  });
  it.each(['', 'api', '/a b', '/a?b', '/a#b', '/a/../b', '/./a', '/a\\b', '/ä', '/a\r\nb'])(
    'refuses %j',
    (path) => {
      expect(urlPathProblem(path)).toBeTypeOf('string');
    },
  );
});
