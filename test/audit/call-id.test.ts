import { describe, expect, it } from 'vitest';
import { createCallIds } from '../../src/audit/call-id.ts';

describe('createCallIds', () => {
  it('makes 26 characters of the Crockford alphabet', () => {
    expect(createCallIds()()).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  });

  it('creates ids that only grow, even within one millisecond or when the clock goes back', () => {
    const times = [5, 5, 5, 3, 1, 6, 6, 2];
    const next = createCallIds({ now: () => times.shift() ?? 0 });
    const ids = Array.from({ length: 8 }, () => next());
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids).toHaveLength(8);
  });

  it('moves to the next millisecond if the random part is exhausted', () => {
    const next = createCallIds({ now: () => 1, random: () => (1n << 80n) - 1n });
    expect([next(), next(), next()]).toEqual([
      `0000000001${'Z'.repeat(16)}`,
      `0000000002${'0'.repeat(16)}`,
      `0000000002${'0'.repeat(9)}4000000`,
    ]);
  });

  it('makes unpredictable ids: those of one millisecond differ by varying amounts', () => {
    const next = createCallIds({ now: () => 1 });
    const ids = Array.from({ length: 9 }, () => next());
    const steps = ids.slice(1).map((id, at) => valueOf(id) - valueOf(ids[at] ?? ''));
    expect(new Set(steps).size).toBeGreaterThan(1);
  });

  it('puts the time first, so that ids from two sources sort by time', () => {
    const early = createCallIds({ now: () => 1_000 })();
    const late = createCallIds({ now: () => 2_000 })();
    expect(early < late).toBe(true);
  });
});

function valueOf(id: string): bigint {
  const digits = Array.from(id, (letter) => BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter)));
  return digits.reduce((value, digit) => value * 32n + digit, 0n);
}
