/**
 * Whose cells end when there is no room for all.
 *
 * @module
 */
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { Keeper, type Kept } from '../../../src/cell/pool/keeper.ts';

const MIB = 1024 * 1024;
const MINUTE = 60_000;
let now: number;
let keeper: Keeper<Kept>;

beforeEach(() => {
  now = 0;
  keeper = new Keeper(() => now);
});

/** Adds a skill, uses it so many times, and makes it one that was not just used. */
function add(key: string, [startMs, mib]: [number | undefined, number], uses = 1): void {
  keeper.set(key, { startMs, bytes: mib * MIB });
  for (let use = 0; use < uses; use++) keeper.use(key);
  now++;
}

describe('the first to go', () => {
  it('is the one that starts again fastest, if all are alike otherwise', () => {
    add('slow', [150, 20]);
    add('fast', [10, 20]);
    add('slower', [300, 20]);
    add('latest', [1, 20]);
    expect(keeper.worst()).toBe('fast');
  });

  it('is the one that takes most memory, if all are alike otherwise', () => {
    add('small', [100, 10]);
    add('large', [100, 80]);
    add('latest', [100, 500]);
    expect(keeper.worst()).toBe('large');
  });

  it('is the one that was used least', () => {
    add('often', [100, 20], 5);
    add('once', [100, 20]);
    add('latest', [100, 20]);
    expect(keeper.worst()).toBe('once');
  });

  it('is one that was used often, but long ago', () => {
    add('formerly', [100, 20], 5);
    now += 60 * MINUTE;
    add('lately', [100, 20]);
    add('latest', [100, 20]);
    expect(keeper.worst()).toBe('formerly');
  });

  it('is never the one that was just used, however cheap', () => {
    add('before', [1000, 1]);
    keeper.set('latest', { startMs: 0, bytes: 1024 * MIB });
    keeper.use('latest');
    expect(keeper.worst()).toBe('before');
  });

  it('is one that has not started, because it keeps nothing', () => {
    add('ready', [100, 20]);
    add('not started', [undefined, 0]);
    add('latest', [100, 20]);
    expect(keeper.worst()).toBe('not started');
  });

  it('does not exist if there is only one', () => {
    add('only', [100, 20]);
    expect(keeper.worst()).toBeUndefined();
  });
});

it('adds up the memory of all', () => {
  add('one', [1, 2]);
  add('two', [1, 3]);
  expect(keeper.bytes).toBe(5 * MIB);
});

it('with everything equal, the least recently used goes first, in every order of uses', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 40 }), (order) => {
      const entries = new Keeper<Kept>(() => now);
      const keys = [...new Set(order)];
      for (const key of keys) entries.set(String(key), { startMs: 10, bytes: MIB });
      // Each counts as used once, at its last place in the order.
      const lastUse = keys.toSorted((a, b) => order.lastIndexOf(a) - order.lastIndexOf(b));
      for (const key of lastUse) {
        now += MINUTE;
        entries.use(String(key));
      }
      const first = lastUse.length > 1 ? String(lastUse[0]) : undefined;
      expect(entries.worst()).toBe(first);
    }),
  );
});
