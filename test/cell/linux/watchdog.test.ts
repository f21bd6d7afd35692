/**
 * How often limits are checked.
 *
 * @module
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { KillReason } from '../../../src/cell/contract.ts';
import { Watchdog } from '../../../src/cell/linux/watchdog.ts';

const TICK_MS = 40;
const RESTING_MS = 1000;
let checks: number;
let found: KillReason | undefined;
let killed: KillReason[];
let watchdog: Watchdog;

beforeEach(() => {
  vi.useFakeTimers();
  [checks, found, killed] = [0, undefined, []];
  const exceeded = (): KillReason | undefined => {
    checks++;
    return found;
  };
  watchdog = new Watchdog({ exceeded, kill: (reason) => killed.push(reason) });
});
afterEach(() => {
  watchdog.stop();
  vi.useRealTimers();
});

test('a process that works is checked at every tick', () => {
  vi.advanceTimersByTime(10 * TICK_MS);
  expect(checks).toBe(10);
});

test('a process that waits is checked once per second, and killed all the same', () => {
  watchdog.rest(true);
  vi.advanceTimersByTime(3 * RESTING_MS);
  expect(checks).toBe(3);
  found = 'memory';
  vi.advanceTimersByTime(RESTING_MS);
  expect(killed).toEqual(['memory']);
});

test('work is checked at the next tick', () => {
  watchdog.rest(true);
  vi.advanceTimersByTime(TICK_MS);
  watchdog.rest(false);
  vi.advanceTimersByTime(TICK_MS);
  expect(checks).toBe(1);
});

test('so is work that began and ended between two ticks, however often', () => {
  for (let call = 0; call < 50; call++) {
    watchdog.rest(false);
    watchdog.rest(true);
    vi.advanceTimersByTime(TICK_MS);
  }
  expect(checks).toBe(50);
});

test('nothing is checked after the end', () => {
  watchdog.stop();
  vi.advanceTimersByTime(3 * RESTING_MS);
  expect(checks).toBe(0);
});
