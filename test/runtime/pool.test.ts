/**
 * Which cell a call gets, and what happens when there are too many calls.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PoolOptions } from '../../src/cell/pool.ts';
import type { Outcome, Runtime, Skill } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';
import { cellCount, controlGroups, descendants, temporaryFiles, zygotePid } from './host-state.ts';

const QUICK = 'def execute(params):\n    return "quick"\n';
const SLOW = 'import time\ndef execute(params):\n    time.sleep(params["seconds"])\n    return "slow"\n';
const POLL = { timeout: 10_000, interval: 20 };

let opened: TestRuntime[] = [];

beforeEach(() => (opened = []));
afterEach(async () => {
  await Promise.all(opened.map(({ close }) => close()));
  // However a pool was used, closing it leaves nothing.
  await expect.poll(descendants, POLL).toEqual([]);
  expect(controlGroups()).toEqual([]);
});

interface Opened {
  runtime: Runtime;
  folder: string;
  skill: (source: string) => Promise<Skill>;
}

function open(pool: PoolOptions): Opened {
  const test = openTestRuntime({ pool });
  opened.push(test);
  const { runtime, folder } = test;
  return { runtime, folder, skill: (source) => runtime.load(writeSkill(folder, { source })) };
}

const startOf = (outcome: Outcome): string | undefined => outcome.execution?.start;

describe('the pool', () => {
  test('starts cold when nothing is ready, and then keeps cells ready', async () => {
    const { runtime, skill } = open({ size: 2 });
    const quick = await skill(QUICK);
    expect(startOf(await runtime.execute(quick, {}))).toBe('cold');
    await expect.poll(cellCount, POLL).toBe(2);
    await runtime.warm(quick);
    expect(startOf(await runtime.execute(quick, {}))).toBe('pool');
  });

  test('fills up again after a call, and no cell serves twice', async () => {
    const { runtime, skill } = open({ size: 1 });
    const pids = await skill(
      'CALLS = []\ndef execute(params):\n    CALLS.append(1)\n    return len(CALLS)\n',
    );
    for (let call = 0; call < 3; call++) {
      await runtime.warm(pids);
      expect(await runtime.execute(pids, {})).toMatchObject({ result: 1, execution: { start: 'pool' } });
      await expect.poll(cellCount, POLL).toBe(1);
    }
  });

  test('keeps nothing ready when told so', async () => {
    const { runtime, skill } = open({ size: 0 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    expect(startOf(await runtime.execute(quick, {}))).toBe('cold');
    await expect.poll(cellCount, POLL).toBe(0);
  });

  test('another grant is another pool', async () => {
    const { runtime, skill } = open({ size: 1 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    const outcome = await runtime.execute(quick, {}, { timeout: 7000 });
    expect(startOf(outcome)).toBe('cold');
    expect(startOf(await runtime.execute(quick, {}))).toBe('pool');
  });

  test('the least recently used skill gives way', async () => {
    const { runtime, skill } = open({ size: 1, maxStandby: 2 });
    const [first, second, third] = [await skill(QUICK), await skill(QUICK), await skill(QUICK)];
    await runtime.warm(first);
    await runtime.warm(second);
    await runtime.warm(first);
    await runtime.warm(third);
    await expect.poll(cellCount, POLL).toBe(2);
    expect(startOf(await runtime.execute(first, {}))).toBe('pool');
    expect(startOf(await runtime.execute(third, {}))).toBe('pool');
    expect(startOf(await runtime.execute(second, {}))).toBe('cold');
  });

  test('cells that nobody uses go away', async () => {
    const { runtime, skill } = open({ size: 2, idleMs: 300 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    expect(cellCount()).toBe(2);
    await expect.poll(cellCount, POLL).toBe(0);
    expect(startOf(await runtime.execute(quick, {}))).toBe('cold');
  });

  test('a burst is served, partly by a zygote', async () => {
    const { runtime, skill } = open({ size: 1, maxConcurrent: 4 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    const outcomes = await Promise.all(Array.from({ length: 24 }, () => runtime.execute(quick, {})));
    expect(outcomes.map((outcome) => outcome.ok && outcome.result)).toEqual(Array(24).fill('quick'));
    expect(new Set(outcomes.map(startOf))).toContain('zygote');
  });

  test('a skill that gives way while it serves calls ends none of them', async () => {
    const { runtime, skill } = open({ size: 1, maxStandby: 1, ready: 'zygote' });
    const [slow, quick] = [await skill(SLOW), await skill(QUICK)];
    await runtime.warm(slow);
    const running = [0, 1, 2].map(() => runtime.execute(slow, { seconds: 0.8 }, { reject: false }));
    // bwrap, the zygote in it, and its three forks.
    await expect.poll(() => descendants().length, POLL).toBe(5);
    await runtime.warm(quick);
    const outcomes = await Promise.all(running);
    expect(outcomes.map((outcome) => outcome.ok && outcome.result)).toEqual(['slow', 'slow', 'slow']);
    expect(outcomes.map(startOf)).toEqual(['zygote', 'zygote', 'zygote']);
  });

  test('a call whose zygote dies before the skill was read is made again', async () => {
    const { runtime, skill } = open({ size: 1, ready: 'zygote' });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    const zygote = zygotePid();
    process.kill(zygote, 'SIGSTOP');
    const call = runtime.execute(quick, {});
    // Long enough for the call to be on its way to a zygote that does not answer.
    await sleep(300);
    process.kill(zygote, 'SIGKILL');
    expect(await call).toMatchObject({ result: 'quick', execution: { start: 'cold' } });
  });

  test('a skill that hangs while it loads does not hold up the others', async () => {
    const { runtime, skill, folder } = open({ size: 1 });
    // One that may start processes has no zygote: its call gets the cell that was started ahead and hangs.
    const hanging = await runtime.load(
      writeSkill(folder, {
        source: 'while True: pass',
        manifest: { limits: { timeout: '6s', processes: 1 } },
      }),
    );
    const quick = await skill(QUICK);
    void runtime.warm(hanging);
    const ended: string[] = [];
    const calls = [hanging, hanging, quick].map(async (one) => {
      await runtime.execute(one, {}, { reject: false });
      ended.push(one === quick ? 'quick' : 'hanging');
    });
    await Promise.all(calls);
    expect(ended).toEqual(['quick', 'hanging', 'hanging']);
  });

  test('a call that waits to be started is refused when the runtime closes', async () => {
    const { runtime, skill } = open({ size: 1, maxConcurrent: 8 });
    const quick = await skill(QUICK);
    const calls = Array.from({ length: 8 }, () => runtime.execute(quick, {}, { reject: false }));
    // All of them have asked, and few have been started.
    await new Promise(setImmediate);
    await runtime.close();
    const codes = (await Promise.all(calls)).map((outcome) => (outcome.ok ? 'ok' : outcome.error.code));
    expect(codes).toContain('usage');
  });

  test('a skill that dies while it loads is not started ahead for ever', async () => {
    const { runtime, skill } = open({ size: 1 });
    const dying = await skill('import os\nos._exit(3)\n');
    for (let call = 0; call < 6; call++) {
      const outcome = await runtime.execute(dying, {}, { reject: false });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    }
    await expect.poll(() => cellCount() <= 1, POLL).toBe(true);
  });
});

describe('back-pressure', () => {
  test('a full queue answers busy at once, and the others are served', async () => {
    const { runtime, skill } = open({ size: 0, maxConcurrent: 1, maxQueue: 1 });
    const slow = await skill(SLOW);
    const calls = [0, 1, 2].map(() => runtime.execute(slow, { seconds: 0.5 }, { reject: false }));
    const outcomes = await Promise.all(calls);
    const codes = outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.detail['limit']));
    expect(codes.filter((code) => code === 'ok')).toHaveLength(2);
    expect(codes).toContain('busy');
    const busy = outcomes.find((outcome) => !outcome.ok);
    expect(busy).toMatchObject({ error: { code: 'resource_exceeded' } });
    expect(await runtime.execute(slow, { seconds: 0 })).toMatchObject({ ok: true });
  });
});

describe('a caller that gives up', () => {
  test.each(['before', 'during'])('%s the call', async (when) => {
    const { runtime, skill } = open({ size: 0 });
    const slow = await skill(SLOW);
    const signal = when === 'before' ? AbortSignal.abort() : AbortSignal.timeout(500);
    const outcome = await runtime.execute(slow, { seconds: 20 }, { signal, reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(runtime.audit.show(outcome.call_id)?.receipt.code).toBe('cancelled');
    await expect.poll(cellCount, POLL).toBe(0);
  });

  test('while waiting in the queue does not keep its place', async () => {
    const { runtime, skill } = open({ size: 0, maxConcurrent: 1, maxQueue: 4 });
    const slow = await skill(SLOW);
    const first = runtime.execute(slow, { seconds: 1 });
    const gone = runtime.execute(slow, { seconds: 20 }, { signal: AbortSignal.timeout(200), reject: false });
    const last = runtime.execute(slow, { seconds: 0 });
    expect(await gone).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect([(await first).ok, (await last).ok]).toEqual([true, true]);
  });
});

describe('close', () => {
  test('leaves no process, control group or file of a pool and its zygote', async () => {
    const { runtime, skill } = open({ size: 2 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    await Promise.all(Array.from({ length: 12 }, () => runtime.execute(quick, {})));
    await runtime.close();
    await expect.poll(descendants, POLL).toEqual([]);
    expect(controlGroups()).toEqual([]);
    expect(temporaryFiles(runtime.home)).toEqual([]);
  });

  test('ends a call that is under way, with an answer', async () => {
    const { runtime, skill } = open({ size: 0 });
    const slow = await skill(SLOW);
    const running = runtime.execute(slow, { seconds: 20 }, { reject: false });
    await expect.poll(cellCount, POLL).toBe(1);
    await runtime.close();
    expect((await running).ok).toBe(false);
    await expect.poll(descendants, POLL).toEqual([]);
  });
});
