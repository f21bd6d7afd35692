/**
 * How calls get their cells, and what happens with too many calls.
 *
 * @module
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PoolOptions } from '../../src/cell/pool/pool.ts';
import type { Outcome, Runtime, Skill } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';
import { cellCount, controlGroups, descendants, forkCount, temporaryFiles, zygotePid } from './host-state.ts';

const QUICK = 'def execute(params):\n    return "quick"\n';
const SLOW = 'import time\ndef execute(params):\n    time.sleep(params["seconds"])\n    return "slow"\n';
const POLL = { interval: 20 };

let opened: TestRuntime[] = [];

beforeEach(() => (opened = []));
afterEach(async () => {
  await Promise.all(opened.map(({ close }) => close()));
  // Closing a pool leaves nothing behind.
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
  test('starts cold if no cell is ready, and then keeps cells ready', async () => {
    const { runtime, skill } = open({ size: 2 });
    const quick = await skill(QUICK);
    expect(startOf(await runtime.execute(quick, {}))).toBe('cold');
    await expect.poll(cellCount, POLL).toBe(2);
    await runtime.warm(quick);
    expect(startOf(await runtime.execute(quick, {}))).toBe('pool');
  });

  test('refills after a call, and no cell serves twice', async () => {
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

  test('keeps no cells ready if configured so', async () => {
    const { runtime, skill } = open({ size: 0 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    expect(startOf(await runtime.execute(quick, {}))).toBe('cold');
    await expect.poll(cellCount, POLL).toBe(0);
  });

  test('uses separate cells for another grant', async () => {
    const { runtime, skill } = open({ size: 1 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    const outcome = await runtime.execute(quick, {}, { timeout: 7000 });
    expect(startOf(outcome)).toBe('cold');
    expect(startOf(await runtime.execute(quick, {}))).toBe('pool');
  });

  test('ends the cells of a skill that was used less', async () => {
    const { runtime, skill } = open({ size: 1, maxStandby: 2 });
    const [first, second, third] = [await skill(QUICK), await skill(QUICK), await skill(QUICK)];
    await runtime.warm(first);
    await runtime.warm(second);
    // So often that a slow start of the other one does not outweigh it.
    for (let use = 0; use < 50; use++) await runtime.warm(first);
    await runtime.warm(third);
    await expect.poll(cellCount, POLL).toBe(2);
    expect(startOf(await runtime.execute(first, {}))).toBe('pool');
    expect(startOf(await runtime.execute(third, {}))).toBe('pool');
    expect(startOf(await runtime.execute(second, {}))).toBe('cold');
  });

  test('removes idle cells', async () => {
    const { runtime, skill } = open({ size: 2, idleMs: 5000 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    expect(cellCount()).toBe(2);
    await expect.poll(cellCount, POLL).toBe(0);
    expect(startOf(await runtime.execute(quick, {}))).toBe('cold');
  });

  test('serves a burst, partly by a zygote', async () => {
    const { runtime, skill } = open({ size: 1, maxConcurrent: 4 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    const outcomes = await Promise.all(Array.from({ length: 24 }, () => runtime.execute(quick, {})));
    expect(outcomes.map((outcome) => outcome.ok && outcome.result)).toEqual(Array(24).fill('quick'));
    expect(new Set(outcomes.map(startOf))).toContain('zygote');
  });

  test('ends no running call of a skill that it evicts', async () => {
    const { runtime, skill } = open({ size: 1, maxStandby: 1, ready: 'zygote' });
    const [slow, quick] = [await skill(SLOW), await skill(QUICK)];
    await runtime.warm(slow);
    const running = [0, 1, 2].map(() => runtime.execute(slow, { seconds: 8 }, { reject: false }));
    await expect.poll(forkCount, POLL).toBe(3);
    await runtime.warm(quick);
    const outcomes = await Promise.all(running);
    expect(outcomes.map((outcome) => outcome.ok && outcome.result)).toEqual(['slow', 'slow', 'slow']);
    // On a busy machine, a call does not wait for the zygote.
    expect(outcomes.map(startOf)).toContain('zygote');
  });

  test('repeats a call whose zygote dies before the skill was read', async () => {
    const { runtime, skill } = open({ size: 1, ready: 'zygote' });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    const zygote = zygotePid();
    process.kill(zygote, 'SIGSTOP');
    const call = runtime.execute(quick, {});
    // Long enough for the call to reach a zygote that does not answer.
    await sleep(300);
    process.kill(zygote, 'SIGKILL');
    expect(await call).toMatchObject({ result: 'quick', execution: { start: 'cold' } });
  });

  test('is not blocked by a skill that hangs while it loads', async () => {
    const { runtime, skill, folder } = open({ size: 1 });
    // A skill that may start processes has no zygote, so its call gets the hanging cell that was started ahead.
    const hanging = await runtime.load(
      writeSkill(folder, {
        source: 'while True: pass',
        manifest: { limits: { timeout: '6s', processes: 1 } },
      }),
    );
    const quick = await skill(QUICK);
    void runtime.warm(hanging);
    const order: string[] = [];
    const calls = [hanging, hanging, quick].map(async (one) => {
      await runtime.execute(one, {}, { reject: false });
      order.push(one === quick ? 'quick' : 'hanging');
    });
    await Promise.all(calls);
    expect(order).toEqual(['quick', 'hanging', 'hanging']);
  });

  test('rejects a call that waits for its start when the runtime closes', async () => {
    const { runtime, skill } = open({ size: 1, maxConcurrent: 8 });
    const quick = await skill(QUICK);
    const calls = Array.from({ length: 8 }, () => runtime.execute(quick, {}, { reject: false }));
    // All calls are made, and only a few have started.
    await new Promise(setImmediate);
    await runtime.close();
    const codes = (await Promise.all(calls)).map((outcome) => (outcome.ok ? 'ok' : outcome.error.code));
    expect(codes).toContain('usage');
  });

  test('stops starting a skill ahead that dies while it loads', async () => {
    const { runtime, skill } = open({ size: 1 });
    const dying = await skill('import os\nos._exit(3)\n');
    for (let call = 0; call < 6; call++) {
      const outcome = await runtime.execute(dying, {}, { reject: false });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    }
    await expect.poll(() => cellCount() <= 1, POLL).toBe(true);
  });

  test('starts cells ahead again once the cause of failed starts is gone', async () => {
    const { runtime, folder } = open({ size: 1 });
    const workspace = join(folder, 'workspace');
    const fault = join(workspace, 'fault');
    mkdirSync(workspace);
    writeFileSync(fault, '');
    const fragile = await runtime.load(
      writeSkill(folder, {
        source: `import os\nif os.path.exists("/workspace/fault"):\n    os._exit(3)\n${QUICK}`,
        manifest: { capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } },
      }),
    );
    const call = (): Promise<Outcome> => runtime.execute(fragile, {}, { workspace, reject: false });
    for (let calls = 0; calls < 6; calls++) {
      expect(await call()).toMatchObject({ ok: false, error: { code: 'skill_error' } });
      await expect.poll(cellCount, POLL).toBe(0);
    }
    rmSync(fault);
    // The first calls find no cell ready; the delay between attempts is at most half a minute.
    await expect.poll(async () => startOf(await call()), { interval: 500 }).toBe('pool');
  });
});

describe('a full queue', () => {
  test('rejects as busy immediately, and the other calls are served', async () => {
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

describe('a caller that cancels', () => {
  test.each(['before', 'during'])('%s the call ends it as cancelled', async (when) => {
    const { runtime, skill } = open({ size: 0 });
    const slow = await skill(SLOW);
    const signal = when === 'before' ? AbortSignal.abort() : AbortSignal.timeout(500);
    const outcome = await runtime.execute(slow, { seconds: 20 }, { signal, reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(runtime.audit.show(outcome.call_id)?.receipt.code).toBe('cancelled');
    await expect.poll(cellCount, POLL).toBe(0);
  });

  test('while waiting in the queue frees its place', async () => {
    const { runtime, skill } = open({ size: 0, maxConcurrent: 1, maxQueue: 4 });
    const slow = await skill(SLOW);
    const first = runtime.execute(slow, { seconds: 1 });
    const gone = runtime.execute(slow, { seconds: 20 }, { signal: AbortSignal.timeout(200), reject: false });
    const last = runtime.execute(slow, { seconds: 0 });
    expect(await gone).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect([(await first).ok, (await last).ok]).toEqual([true, true]);
  });
});

describe('closing the runtime', () => {
  test('leaves no process, cgroup or file of a pool and its zygote', async () => {
    const { runtime, skill } = open({ size: 2 });
    const quick = await skill(QUICK);
    await runtime.warm(quick);
    await Promise.all(Array.from({ length: 12 }, () => runtime.execute(quick, {})));
    await runtime.close();
    await expect.poll(descendants, POLL).toEqual([]);
    expect(controlGroups()).toEqual([]);
    expect(temporaryFiles(runtime.home)).toEqual([]);
  });

  test('ends a running call with an answer', async () => {
    const { runtime, skill } = open({ size: 0 });
    const slow = await skill(SLOW);
    const running = runtime.execute(slow, { seconds: 20 }, { reject: false });
    await expect.poll(cellCount, POLL).toBe(1);
    await runtime.close();
    expect((await running).ok).toBe(false);
    await expect.poll(descendants, POLL).toEqual([]);
  });
});
