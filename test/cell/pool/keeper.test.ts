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

function waiting(startMs: number | undefined, mib: number): Kept {
  return { startMs, bytes: mib * MIB, waitingBytes: mib * MIB, isWaiting: true };
}

/** Adds a skill, uses it so many times, and makes it one that was not just used. */
function add(key: string, [startMs, mib]: [number | undefined, number], uses = 1): void {
  keeper.set(key, waiting(startMs, mib));
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
    keeper.set('latest', waiting(0, 1024));
    keeper.use('latest');
    expect(keeper.worst()).toBe('before');
  });

  it('is one that has not started, because it keeps nothing', () => {
    add('ready', [100, 20]);
    add('not started', [undefined, 0]);
    add('latest', [100, 20]);
    expect(keeper.worst()).toBe('not started');
  });

  it('is one whose cells have ended, because it keeps nothing', () => {
    add('ready', [100, 20]);
    add('ended', [100, 0]);
    add('latest', [100, 20]);
    expect(keeper.worst()).toBe('ended');
  });

  it('is the one used longest ago, if none keeps anything, in whatever order they came', () => {
    add('early', [undefined, 0]);
    add('late', [undefined, 0]);
    keeper.use('early');
    now++;
    add('latest', [undefined, 0]);
    expect(keeper.worst()).toBe('late');
  });

  it('is the one that was used less, even if the start of the other is drawn out', () => {
    add('drawn out', [60_000, 20]);
    add('usual', [100, 20], 20);
    add('latest', [100, 20]);
    expect(keeper.worst()).toBe('drawn out');
  });

  it('does not exist if there is only one', () => {
    add('only', [100, 20]);
    expect(keeper.worst()).toBeUndefined();
  });
});

it('measures memory again only after a while, however many are to go', () => {
  let measured = 0;
  const value = {
    ...waiting(100, 1),
    get bytes() {
      measured++;
      return MIB;
    },
  };
  for (const key of ['one', 'two', 'three', 'four']) {
    keeper.set(key, value);
    keeper.use(key);
    now++;
  }
  for (let left = 4; left > 1; left--) keeper.delete(keeper.worst() ?? '');
  expect(measured).toBe(3);
  now += 1000;
  keeper.set('latest', value);
  keeper.worst();
  expect(measured).toBe(4);
});

it('adds up the memory of all', () => {
  add('one', [1, 2]);
  add('two', [1, 3]);
  expect(keeper.waitingBytes).toBe(5 * MIB);
});

it('with everything equal, the least recently used goes first, in every order of uses', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 40 }), (order) => {
      const entries = new Keeper<Kept>(() => now);
      const keys = [...new Set(order)];
      for (const key of keys) entries.set(String(key), waiting(10, 1));
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
