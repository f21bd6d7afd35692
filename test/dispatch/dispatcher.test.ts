/**
 * Whose call is next: limits of tenants, skills and the whole, refusals that say when to come again, and nobody starves.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Dispatcher, SkillError, type DispatchEntry, type Turn } from '../../src/index.ts';

const ROOMY = { concurrent: 100, queue: 100 };

/** Enters, and notes when it has its turn. */
function ask(dispatcher: Dispatcher, entry: DispatchEntry): { turn: Promise<Turn>; has: () => boolean } {
  let has = false;
  const turn = dispatcher.enter(entry);
  void turn.then(
    () => (has = true),
    () => undefined,
  );
  return { turn, has: () => has };
}

function refusal(enter: () => unknown): SkillError {
  try {
    enter();
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
  throw new Error('It was let in');
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a lane', () => {
  test.each([
    ['tenant', { all: ROOMY, tenant: { concurrent: 1, queue: 1 }, skill: ROOMY }],
    ['skill', { all: ROOMY, tenant: ROOMY, skill: { concurrent: 1, queue: 1 } }],
    ['all', { all: { concurrent: 1, queue: 1 }, tenant: ROOMY, skill: ROOMY }],
  ])('of %s has places, then a queue, then refuses at once', async (scope, options) => {
    const dispatcher = new Dispatcher(options);
    const entry = { tenant: 'a', skill: 'x/y' };
    const first = await dispatcher.enter(entry);
    const second = ask(dispatcher, entry);
    await settled();
    expect(second.has()).toBe(false);
    const error = refusal(() => dispatcher.enter(entry));
    expect(error.code).toBe('resource_exceeded');
    expect(error.detail).toMatchObject({ limit: 'busy', scope, concurrent: 1, queue: 1 });
    expect(error.detail['retry_after_ms']).toBeGreaterThan(0);
    first[Symbol.dispose]();
    await second.turn;
  });

  test('of one tenant leaves room for the others, and may differ by name', async () => {
    const dispatcher = new Dispatcher({
      all: ROOMY,
      skill: ROOMY,
      tenant: (name) => ({ concurrent: name === 'big' ? 2 : 1, queue: 0 }),
    });
    const enter = (tenant: string): Promise<Turn> => dispatcher.enter({ tenant, skill: 'x/y' });
    await Promise.all([enter('big'), enter('big'), enter('small')]);
    refusal(() => enter('big'));
    refusal(() => enter('small'));
    await enter('another');
  });

  test('follows limits that change', async () => {
    let concurrent = 1;
    const dispatcher = new Dispatcher({
      all: ROOMY,
      skill: ROOMY,
      tenant: () => ({ concurrent, queue: 0, rate: { calls: concurrent * 2, per: 1000 } }),
      now: () => 0,
    });
    const enter = (): Promise<Turn> => dispatcher.enter({ tenant: 'a', skill: 'x/y' });
    const first = await enter();
    refusal(enter);
    concurrent = 2;
    await enter();
    refusal(enter);
    first[Symbol.dispose]();
    await enter();
  });

  test('gives back a place once, however often it is disposed of', async () => {
    const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 0 } });
    const turn = await dispatcher.enter({ tenant: 'a', skill: 'x/y' });
    turn[Symbol.dispose]();
    turn[Symbol.dispose]();
    await dispatcher.enter({ tenant: 'a', skill: 'x/y' });
    refusal(() => dispatcher.enter({ tenant: 'a', skill: 'x/y' }));
  });
});

describe('those who wait', () => {
  test('are taken from one tenant after the other', async () => {
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

  test('for a busy skill do not hold up those for another', async () => {
    const dispatcher = new Dispatcher({ all: ROOMY, tenant: ROOMY, skill: { concurrent: 1, queue: 9 } });
    await dispatcher.enter({ tenant: 'a', skill: 'slow/one' });
    const behind = ask(dispatcher, { tenant: 'a', skill: 'slow/one' });
    await dispatcher.enter({ tenant: 'a', skill: 'fast/one' });
    expect(behind.has()).toBe(false);
  });

  test('can give up, and their place goes to the next', async () => {
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

  test('are never asked for when they gave up before', async () => {
    const dispatcher = new Dispatcher();
    const entry = { tenant: 'a', skill: 'x/y', signal: AbortSignal.abort() };
    await expect(dispatcher.enter(entry)).rejects.toMatchObject({ code: 'cancelled' });
    expect(dispatcher.load.running).toBe(0);
  });
});

describe('a rate', () => {
  test('lets so many in, says when the next may come, and then lets it in', async () => {
    let now = 0;
    const tenant = { ...ROOMY, rate: { calls: 2, per: 1000 } };
    const dispatcher = new Dispatcher({ all: ROOMY, skill: ROOMY, tenant, now: () => now });
    const enter = (name = 'a'): Promise<Turn> => dispatcher.enter({ tenant: name, skill: 'x/y' });
    await Promise.all([enter(), enter()]);
    const { detail } = refusal(enter);
    expect(detail).toMatchObject({ limit: 'busy', scope: 'tenant', retry_after_ms: 500 });
    await enter('b');
    now = 499;
    refusal(enter);
    now = 500;
    await enter();
  });

  test('is not used up by calls that were refused', async () => {
    const tenant = { concurrent: 1, queue: 0, rate: { calls: 2, per: 1000 } };
    const dispatcher = new Dispatcher({ all: ROOMY, skill: ROOMY, tenant, now: () => 0 });
    const entry = { tenant: 'a', skill: 'x/y' };
    const first = await dispatcher.enter(entry);
    for (let n = 0; n < 5; n++) refusal(() => dispatcher.enter(entry));
    first[Symbol.dispose]();
    await dispatcher.enter(entry);
  });

  test('is not forgotten with the many names of strangers', async () => {
    const tenant = { ...ROOMY, rate: { calls: 1, per: 1000 } };
    const dispatcher = new Dispatcher({ all: ROOMY, skill: ROOMY, tenant, now: () => 0 });
    (await dispatcher.enter({ tenant: 'a', skill: 'x/y' }))[Symbol.dispose]();
    for (let n = 0; n < 3000; n++)
      (await dispatcher.enter({ tenant: `stranger ${n}`, skill: 'x/y' }))[Symbol.dispose]();
    refusal(() => dispatcher.enter({ tenant: 'a', skill: 'x/y' }));
  });
});

test('draining lets nobody in and waits for all who are', async () => {
  const dispatcher = new Dispatcher({ all: { concurrent: 1, queue: 9 } });
  const entry = { tenant: 'a', skill: 'x/y' };
  const first = await dispatcher.enter(entry);
  const second = ask(dispatcher, entry);
  let drained = false;
  const draining = dispatcher.drain().then(() => (drained = true));
  expect(refusal(() => dispatcher.enter(entry)).code).toBe('skill_unavailable');
  first[Symbol.dispose]();
  const turn = await second.turn;
  await settled();
  expect(drained).toBe(false);
  turn[Symbol.dispose]();
  await draining;
  await new Dispatcher().drain();
});

test('the load names who has and who waits for places', async () => {
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

test('whatever comes and goes: no limit is passed, and nobody waits who could run', async () => {
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
