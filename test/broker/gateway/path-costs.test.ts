/**
 * Both a request and the rules for it are untrusted, and comparing them blocks the event loop.
 *
 * @module
 */
import { describe, expect, it } from 'vitest';
import { readings } from '../../../src/broker/gateway/path-readings.ts';
import { objectionTo } from '../../../src/broker/gateway/rules.ts';

const LONGEST = 8000;
const filled = (text: string): string => `/v1/${text.repeat(Math.floor(LONGEST / text.length))}`;

/** Patterns that count how often one of them is read. */
function counting(patterns: string[], count: { looks: number }): string[] {
  return new Proxy(patterns, {
    get: (target, key, receiver) => {
      if (/^\d+$/.test(String(key))) count.looks++;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
}

describe('the longest path', () => {
  it.each(['a', 'ab/', '%61', '%e6%97%a5'])('made only of "%s" can be read', (text) => {
    expect(readings(filled(text))).toContain(
      decodeURIComponent(filled(text)) === filled(text)
        ? filled(text)
        : Buffer.from(decodeURIComponent(filled(text))).toString('latin1'),
    );
  });

  it.each(['a. /%5c;', '%25252e;/', '%25ef%25bc%258f;x\\', 'a.//'])(
    'made only of "%s" has too many long readings and is covered by no rule',
    (text) => expect(readings(filled(text))).toBeUndefined(),
  );

  it('is compared with a bounded number of patterns and is not covered beyond them', () => {
    const count = { looks: 0 };
    const patterns = Array.from({ length: 256 }, (_, at) => `*-${at}-*`);
    const rules = Array.from({ length: 256 }, () => ({ host: 'a.test', paths: counting(patterns, count) }));
    const last = { host: 'a.test', paths: ['*'] };
    const ask = (path: string): string | undefined =>
      objectionTo({ method: 'GET', url: new URL(path, 'https://a.test'), headers: {} }, [...rules, last]);
    expect(ask(filled('a'))).toBe('no network rule covers its method and path');
    expect(count.looks).toBeLessThan(1000);
    expect(ask('/v1/usual/path')).toBeUndefined();
  });
});
