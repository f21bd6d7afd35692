import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { InputStream } from '../../../guest/wasm/wasi/streams.ts';
import { Call } from '../../../guest/wasm/wasi/call.ts';
import { ending, harness } from './harness.ts';
import { MemoryBroker } from './memory-broker.ts';

const DAY_NS = 86_400_000_000_000n;

beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterAll(() => void vi.useRealTimers());

/** Number of armed timers. */
const armed = (): number => vi.getTimerCount();

describe('a timer of the guest', () => {
  test('is not armed by a query whether it is ready', () => {
    const { use } = harness();
    for (let count = 0; count < 100; count++) {
      const timer = use('clocks/monotonic-clock', 'subscribe-duration', DAY_NS);
      expect(use('io/poll', '[method]pollable.ready', timer)).toBe(false);
    }
    expect(armed()).toBe(0);
  });

  test('is disarmed if something else ends the poll', async () => {
    const { use } = harness();
    const call = new Call({ broker: new MemoryBroker() });
    const stream = new InputStream(call, { read: () => new Uint8Array(4) });
    const slow = new InputStream(call, {
      read: () => new Promise((resolve) => setImmediate(resolve, new Uint8Array(4))),
    });
    for (const source of [stream, slow]) {
      const ready = use('io/streams', '[method]input-stream.subscribe', source);
      const timer = use('clocks/monotonic-clock', 'subscribe-duration', DAY_NS);
      expect(await use('io/poll', 'poll', [ready, timer])).toEqual([0]);
      expect(armed()).toBe(0);
    }
  });

  test('is disarmed when the call ends, even if the guest still waits for it', () => {
    const { use, host } = harness();
    const timer = use('clocks/monotonic-clock', 'subscribe-duration', DAY_NS);
    const waiting = use('io/poll', '[method]pollable.block', timer);
    expect(waiting).toBeInstanceOf(Promise);
    expect(armed()).toBe(1);
    host.finish();
    expect(armed()).toBe(0);
  });

  test('is disarmed when its pollable is dropped', () => {
    const { use } = harness();
    const timer = use('clocks/monotonic-clock', 'subscribe-duration', DAY_NS) as { drop: () => void };
    void use('io/poll', '[method]pollable.block', timer);
    expect(armed()).toBe(1);
    timer.drop();
    expect(armed()).toBe(0);
  });

  test('is limited in number, and cannot be armed after the call ended', async () => {
    const { use, host } = harness();
    const wait = (): unknown => {
      const timer = use('clocks/monotonic-clock', 'subscribe-duration', DAY_NS);
      return use('io/poll', '[method]pollable.block', timer);
    };
    for (let count = 0; count < 4096; count++) void wait();
    expect(await ending(wait)).toEqual({ kind: 'limit', detail: 'handles' });
    host.finish();
    expect(armed()).toBe(0);
  });
});
