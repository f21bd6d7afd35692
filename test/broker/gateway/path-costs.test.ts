/**
 * A request and the rules that judge it are both a stranger's, and everybody waits while they are compared.
 *
 * @module
 */
import { describe, expect, it } from 'vitest';
import { readings } from '../../../src/broker/gateway/path-readings.ts';
import { objectionTo } from '../../../src/broker/gateway/rules.ts';

const LONGEST = 8000;
const filled = (text: string): string => `/v1/${text.repeat(Math.floor(LONGEST / text.length))}`;

/** Patterns that count how often one of them is looked at. */
function counting(patterns: string[], count: { looks: number }): string[] {
  return new Proxy(patterns, {
    get: (target, key, receiver) => {
      if (/^\d+$/.test(String(key))) count.looks++;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
}

describe('the longest path', () => {
  it.each(['a', 'ab/', '%61', '%e6%97%a5'])('of nothing but "%s" is read', (text) => {
    expect(readings(filled(text))).toContain(
      decodeURIComponent(filled(text)) === filled(text)
        ? filled(text)
        : Buffer.from(decodeURIComponent(filled(text))).toString('latin1'),
    );
  });

  it.each(['a. /%5c;', '%25252e;/', '%25ef%25bc%258f;x\\', 'a.//'])(
    'of nothing but "%s" has too many long readings, and no rule covers it',
    (text) => expect(readings(filled(text))).toBeUndefined(),
  );

  it('is compared with a bounded number of patterns, and is not covered then', () => {
    const count = { looks: 0 };
    const patterns = Array.from({ length: 256 }, (_, at) => `*-${at}-*`);
    const rules = Array.from({ length: 256 }, () => ({ host: 'a.test', paths: counting(patterns, count) }));
    const last = { host: 'a.test', paths: ['*'] };
    const ask = (path: string): string | undefined =>
      objectionTo({ method: 'GET', url: new URL(path, 'https://a.test'), headers: {} }, [...rules, last]);
    expect(ask(filled('a'))).toBe('no network rule covers it');
    expect(count.looks).toBeLessThan(1000);
    expect(ask('/v1/usual/path')).toBeUndefined();
  });
});
