import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostCovers, isHostPattern, pathCovers } from '../../src/policy/patterns.ts';
import { words } from '../words.ts';
import { HOST_CASES } from './host-cases.ts';

describe('hostCovers', () => {
  it.each(HOST_CASES)('says that %s covers %s: %s', (pattern, host, expected) => {
    expect(hostCovers(pattern, host)).toBe(expected);
  });
});

describe('isHostPattern', () => {
  it.each(['example.com', '*.example.com', '127.0.0.1', '[::1]', 'localhost'])('accepts %s', (pattern) => {
    expect(isHostPattern(pattern)).toBe(true);
  });

  it.each([...words('* a*.example.com *.*.com http://example.com example.com:443 .example.com'), '', 'a b'])(
    'refuses %j',
    (pattern) => expect(isHostPattern(pattern)).toBe(false),
  );
});

describe('pathCovers', () => {
  it.each([
    ['${workspace}/**', '${workspace}', true],
    ['${workspace}/**', '${workspace}/a/b', true],
    ['${workspace}', '${workspace}/a', true],
    ['${workspace}/in*', '${workspace}/invoices', true],
    ['${workspace}/in*', '${workspace}/out', false],
    ['${workspace}/*/in', '${workspace}/in', false],
    ['/data/**', '/data/a', true],
    ['/data/**', '/database', false],
    ['/data', '/database', false],
    ['/data/**/logs', '/data/a/b/logs', true],
    ['/data/**/logs', '/data/logs', true],
    ['/data/**/logs', '/data/a', false],
    ['/data/**', '/data/../etc', false],
    ['/data/*.csv', '/data/a.csv', true],
    ['/data/a*b*c', '/data/a-b-c', true],
    ['/data/a*b*c', '/data/ac', false],
    ['/data/ab*ba', '/data/aba', false],
    ['/*', '${workspace}/a', false],
    ['/**', '/any/thing', true],
    ['/data//./x', '/data/x', true],
  ])('says that %s covers %s: %s', (pattern, path, expected) => {
    expect(pathCovers(pattern, path)).toBe(expected);
  });

  const segment = fc.stringMatching(/^[a-c]{1,3}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`);

  it('covers a path by the path itself and by every folder above it, and by nothing else', () => {
    fc.assert(
      fc.property(path, path, (folder, other) => {
        expect(pathCovers(folder, folder)).toBe(true);
        expect(pathCovers(folder, `${folder}${other}`)).toBe(true);
        expect(pathCovers(folder, other)).toBe(other === folder || other.startsWith(`${folder}/`));
      }),
    );
  });

  it('agrees with a regular expression on patterns with stars', () => {
    const part = fc.oneof(segment, fc.constantFrom('*', '**', 'a*', '*b', 'a*c'));
    const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(pattern, path, (glob, wanted) => {
        const source = glob
          .slice(1)
          .split('/')
          .map((one) => (one === '**' ? '(?:/[^/]+)*' : `/${one.replaceAll('*', '[^/]*')}`))
          .join('');
        expect(pathCovers(glob, wanted)).toBe(new RegExp(`^${source}(?:/.*)?$`).test(wanted));
      }),
      { numRuns: 1000 },
    );
  });

  it('returns for a pattern that is designed to be slow', () => {
    const pattern = `/${'**/a/'.repeat(200)}b`;
    expect(pathCovers(pattern, `/${'a/'.repeat(400)}`)).toBe(false);
  });
});
