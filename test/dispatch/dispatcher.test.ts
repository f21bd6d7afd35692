/**
 * Limits per tenant, per skill and in total, rejections that say when to retry, and fairness.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Dispatcher, type DispatchEntry } from '../../src/inside.ts';
import type { SkillError, Turn } from '../../src/index.ts';
import { thrownBy } from '../thrown.ts';

const ROOMY = { concurrent: 100, queue: 100 };

/** Enters, and records when the call gets its turn. */
function ask(dispatcher: Dispatcher, entry: DispatchEntry): { turn: Promise<Turn>; has: () => boolean } {
  let has = false;
  const turn = dispatcher.enter(entry);
  void turn.then(
    () => (has = true),
    () => undefined,
  );
  return { turn, has: () => has };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a lane', () => {
  test.each([
    ['tenant', { all: ROOMY, tenant: { concurrent: 1, queue: 1 }, skill: ROOMY }],
    ['skill', { all: ROOMY, tenant: ROOMY, skill: { concurrent: 1, queue: 1 } }],
    ['all', { all: { concurrent: 1, queue: 1 }, tenant: ROOMY, skill: ROOMY }],
  ])('of %s has slots, then a queue, then rejects immediately', async (scope, options) => {
    const dispatcher = new Dispatcher(options);
    const entry = { tenant: 'a', skill: 'x/y' };
    const first = await dispatcher.enter(entry);
    const second = ask(dispatcher, entry);
    await settled();
    expect(second.has()).toBe(false);
    const error = thrownBy(() => dispatcher.enter(entry));
    expect(error.code).toBe('resource_exceeded');
    expect(error.detail).toMatchObject({ limit: 'busy', scope, concurrent: 1, queue: 1 });
    expect(error.detail['retry_after_ms']).toBeGreaterThan(0);
    first[Symbol.dispose]();
    await second.turn;
  });

  test('of one tenant leaves room for the others, and its limits may differ by name', async () => {
    const dispatcher = new Dispatcher({
      all: ROOMY,
      skill: ROOMY,
      tenant: (name) => ({ concurrent: name === 'big' ? 2 : 1, queue: 0 }),
    });
    const enter = (tenant: string): Promise<Turn> => dispatcher.enter({ tenant, skill: 'x/y' });
    await Promise.all([enter('big'), enter('big'), enter('small')]);
    thrownBy(() => enter('big'));
    thrownBy(() => enter('small'));
    await enter('another');
  });

  test('follows changed limits', async () => {
    let concurrent = 1;
    const dispatcher = new Dispatcher({
      all: ROOMY,
      skill: ROOMY,
      tenant: () => ({ concurrent, queue: 0, rate: { calls: concurrent * 2, per: 1000 } }),
      now: () => 0,
    });
    const enter = (): Promise<Turn> => dispatcher.enter({ tenant: 'a', skill: 'x/y' });
    const first = await enter();
    thrownBy(enter);
    concurrent = 2;
    await enter();
    thrownBy(enter);
    first[Symbol.dispose]();
    await enter();
  });

  test('frees a slot once, however often it is disposed', async () => {
    const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 0 } });
    const turn = await dispatcher.enter({ tenant: 'a', skill: 'x/y' });
    turn[Symbol.dispose]();
    turn[Symbol.dispose]();
    await dispatcher.enter({ tenant: 'a', skill: 'x/y' });
    thrownBy(() => dispatcher.enter({ tenant: 'a', skill: 'x/y' }));
  });
});

describe('waiting calls', () => {
  test('are taken from the tenants in turn', async () => {
    const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 100 }, tenant: ROOMY, skill: ROOMY });
    const order: string[] = [];
    const held = await dispatcher.enter({ tenant: 'other', skill: 'x/y' });
    const calls = ['a', 'a', 'a', 'a', 'b', 'c'].map(async (tenant, at) => {
      using turn = await dispatcher.enter({ tenant, skill: 'x/y' });
      expect(turn).toBeDefined();
      order.push(`${tenant}${at}`);
    });
    held[Symbol.dispose]();
    await Promise.all(calls);
    expect(order).toEqual(['a0', 'b4', 'c5', 'a1', 'a2', 'a3']);
  });

  test('for a busy skill do not block those for another', async () => {
    const dispatcher = new Dispatcher({ all: ROOMY, tenant: ROOMY, skill: { concurrent: 1, queue: 9 } });
    await dispatcher.enter({ tenant: 'a', skill: 'slow/one' });
    const behind = ask(dispatcher, { tenant: 'a', skill: 'slow/one' });
    await dispatcher.enter({ tenant: 'a', skill: 'fast/one' });
    expect(behind.has()).toBe(false);
  });

  test('can be cancelled, and their slot goes to the next', async () => {
    const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 1 } });
    const entry = { tenant: 'a', skill: 'x/y' };
    const first = await dispatcher.enter(entry);
    const patience = new AbortController();
    const second = ask(dispatcher, { ...entry, signal: patience.signal });
    patience.abort();
    await expect(second.turn).rejects.toMatchObject({ code: 'cancelled' });
    const third = ask(dispatcher, entry);
    first[Symbol.dispose]();
    await third.turn;
    expect(dispatcher.load).toMatchObject({ running: 1, waiting: 0 });
  });

  test('are never started if they were cancelled before', async () => {
    const dispatcher = new Dispatcher();
    const entry = { tenant: 'a', skill: 'x/y', signal: AbortSignal.abort() };
    await expect(dispatcher.enter(entry)).rejects.toMatchObject({ code: 'cancelled' });
    expect(dispatcher.load.running).toBe(0);
  });
});

describe('a rate limit', () => {
  test('admits a number of calls, says when the next may come, and then admits it', async () => {
    let now = 0;
    const tenant = { ...ROOMY, rate: { calls: 2, per: 1000 } };
    const dispatcher = new Dispatcher({ all: ROOMY, skill: ROOMY, tenant, now: () => now });
    const enter = (name = 'a'): Promise<Turn> => dispatcher.enter({ tenant: name, skill: 'x/y' });
    await Promise.all([enter(), enter()]);
    const { detail } = thrownBy(enter);
    expect(detail).toMatchObject({ limit: 'busy', scope: 'tenant', retry_after_ms: 500 });
    await enter('b');
    now = 499;
    thrownBy(enter);
    now = 500;
    await enter();
  });

  test('is not used up by rejected calls', async () => {
    const tenant = { concurrent: 1, queue: 0, rate: { calls: 2, per: 1000 } };
    const dispatcher = new Dispatcher({ all: ROOMY, skill: ROOMY, tenant, now: () => 0 });
    const entry = { tenant: 'a', skill: 'x/y' };
    const first = await dispatcher.enter(entry);
    for (let n = 0; n < 5; n++) thrownBy(() => dispatcher.enter(entry));
    first[Symbol.dispose]();
    await dispatcher.enter(entry);
  });

  test('is kept, however many unknown names arrive', async () => {
    const tenant = { ...ROOMY, rate: { calls: 1, per: 1000 } };
    const dispatcher = new Dispatcher({ all: ROOMY, skill: ROOMY, tenant, now: () => 0 });
    (await dispatcher.enter({ tenant: 'a', skill: 'x/y' }))[Symbol.dispose]();
    for (let n = 0; n < 3000; n++)
      (await dispatcher.enter({ tenant: `stranger ${n}`, skill: 'x/y' }))[Symbol.dispose]();
    thrownBy(() => dispatcher.enter({ tenant: 'a', skill: 'x/y' }));
  });
});

test('draining admits no new calls and waits for all running ones', async () => {
  const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 9 } });
  const entry = { tenant: 'a', skill: 'x/y' };
  const first = await dispatcher.enter(entry);
  const second = ask(dispatcher, entry);
  let drained = false;
  const draining = dispatcher.drain().then(() => (drained = true));
  expect(thrownBy(() => dispatcher.enter(entry)).code).toBe('skill_unavailable');
  first[Symbol.dispose]();
  const turn = await second.turn;
  await settled();
  expect(drained).toBe(false);
  turn[Symbol.dispose]();
  await draining;
  await new Dispatcher().drain();
});

test('the load lists running and waiting calls by tenant and skill', async () => {
  const dispatcher = new Dispatcher({ all: ROOMY, skill: ROOMY, tenant: { concurrent: 1, queue: 5 } });
  await dispatcher.enter({ tenant: 'a', skill: 'x/y' });
  void dispatcher.enter({ tenant: 'a', skill: 'x/z' });
  expect(dispatcher.load).toEqual({
    running: 1,
    waiting: 1,
    tenants: { a: { running: 1, waiting: 1 } },
    skills: { 'x/y': { running: 1, waiting: 0 }, 'x/z': { running: 0, waiting: 1 } },
  });
});

const steps = fc.array(
  fc.record({
    act: fc.constantFrom('enter', 'enter', 'leave', 'abort'),
    tenant: fc.constantFrom('a', 'b', 'c'),
    skill: fc.constantFrom('x/1', 'x/2'),
    at: fc.nat(20),
  }),
  { maxLength: 60 },
);

test('no sequence of calls exceeds a limit or leaves a call waiting that could run', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const limits = { all: { concurrent: 3, queue: 6 }, tenant: { concurrent: 2, queue: 4 } };
      const dispatcher = new Dispatcher({ ...limits, skill: { concurrent: 2, queue: 5 } });
      const running: { turn: Turn; entry: DispatchEntry }[] = [];
      const waiting: { entry: DispatchEntry; abort: () => void }[] = [];
      for (const { act, tenant, skill, at } of script) {
        if (act === 'leave') running.splice(at % (running.length || 1), 1)[0]?.turn[Symbol.dispose]();
        else if (act === 'abort') waiting[at % (waiting.length || 1)]?.abort();
        else enterNoting(dispatcher, { tenant, skill }, { running, waiting });
        await settled();
        const count = (entry: Partial<DispatchEntry>): number =>
          running.filter((one) =>
            Object.entries(entry).every(([key, value]) => one.entry[key as 'tenant'] === value),
          ).length;
        const fits = (entry: Partial<DispatchEntry>, most: number): boolean => count(entry) < most;
        expect(running.length).toBeLessThanOrEqual(3);
        for (const name of ['a', 'b', 'c']) expect(count({ tenant: name })).toBeLessThanOrEqual(2);
        for (const name of ['x/1', 'x/2']) expect(count({ skill: name })).toBeLessThanOrEqual(2);
        const could = waiting.filter(
          ({ entry }) => fits({}, 3) && fits({ tenant: entry.tenant }, 2) && fits({ skill: entry.skill }, 2),
        );
        expect(could).toEqual([]);
        expect(dispatcher.load).toMatchObject({ running: running.length, waiting: waiting.length });
      }
    }),
    { numRuns: 100 },
  );
});

function enterNoting(
  dispatcher: Dispatcher,
  entry: DispatchEntry,
  {
    running,
    waiting,
  }: {
    running: { turn: Turn; entry: DispatchEntry }[];
    waiting: { entry: DispatchEntry; abort: () => void }[];
  },
): void {
  const patience = new AbortController();
  const waiter = { entry, abort: () => patience.abort() };
  const leaveQueue = (): void => void waiting.splice(waiting.indexOf(waiter), 1);
  try {
    const asked = dispatcher.enter({ ...entry, signal: patience.signal });
    waiting.push(waiter);
    void asked.then(
      (turn) => {
        leaveQueue();
        running.push({ turn, entry });
      },
      () => leaveQueue(),
    );
  } catch (error) {
    expect((error as SkillError).detail['limit']).toBe('busy');
  }
}
