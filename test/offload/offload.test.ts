import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import { MAX_QUEUED_BYTES, Offload } from '../../src/offload/offload.ts';
import { TaskEndedError, type Task } from '../../src/offload/task.ts';

const module = new URL('./test-tasks.ts', import.meta.url).href;
const ECHO: Task<{ value: unknown }, { value: unknown }> = { module, name: 'echo' };
const SPIN: Task<{ pattern: string }, boolean> = { module, name: 'backtrack' };
const FILL: Task<null, number> = { module, name: 'fill' };
const FAIL: Task<{ skill: boolean }, never> = { module, name: 'fail' };
const BYTES: Task<{ bytes: Uint8Array }, { bytes: Uint8Array }> = { module, name: 'bytes' };
const SEES: Task<null, string[]> = { module, name: 'environment' };

const offload = new Offload({ threads: 1 });
afterAll(() => offload.close());
const quick = { deadlineMs: 20_000, owner: 'test' };

describe('worker threads', () => {
  test('do a task and count it', async () => {
    expect(await offload.run(ECHO, { value: [1, { a: 'ä' }] }, quick)).toEqual({ value: [1, { a: 'ä' }] });
    expect(offload.counts.done['echo']).toBe(1);
  });

  test('hand bytes over in both directions', async () => {
    const bytes = new Uint8Array(100_000).fill(7);
    const back = await offload.run(BYTES, { bytes }, { ...quick, transfer: [bytes] });
    expect(bytes.byteLength).toBe(0);
    expect(back.bytes.byteLength).toBe(100_000);
    expect(back.bytes[99_999]).toBe(8);
  });

  test('end in the middle of a pattern at their deadline, and the next task is done', async () => {
    const before = offload.counts.ended;
    const ended = offload.run(SPIN, { pattern: '^(a+)+$' }, { deadlineMs: 50, owner: 'hostile' });
    await expect(ended).rejects.toBeInstanceOf(TaskEndedError);
    await expect(ended).rejects.toMatchObject({ reason: 'deadline' });
    expect(offload.counts.ended).toBe(before + 1);
    expect(await offload.run(ECHO, { value: 1 }, quick)).toEqual({ value: 1 });
  });

  test('end alone when they have no memory left', async () => {
    await expect(offload.run(FILL, null, { deadlineMs: 60_000, owner: 'hostile' })).rejects.toMatchObject({
      reason: 'memory',
    });
    expect(await offload.run(ECHO, { value: 2 }, quick)).toEqual({ value: 2 });
  });

  test('pass errors on as they were thrown', async () => {
    const thrown: unknown = await offload.run(FAIL, { skill: true }, quick).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(SkillError);
    expect(thrown).toMatchObject({ code: 'manifest_invalid', fix: 'Mend it.', detail: { at: 3 } });
    await expect(offload.run(FAIL, { skill: false }, quick)).rejects.toThrow('plain');
  });

  test('see nothing of the environment', async () => {
    expect(await offload.run(SEES, null, quick)).toEqual([]);
  });

  test('serve owners in turn, however much one of them has waiting', async () => {
    const order: string[] = [];
    const run = (owner: string, name: string): Promise<unknown> =>
      offload.run(ECHO, { value: name }, { ...quick, owner }).then(() => order.push(name));
    const greedy = Array.from({ length: 20 }, (_, n) => run('greedy', `greedy ${n}`));
    const modest = run('modest', 'modest');
    await Promise.all([...greedy, modest]);
    // One was under way already.
    expect(order.indexOf('modest')).toBeLessThanOrEqual(2);
  });

  test('are not all taken by a tenant that has many skills', async () => {
    const shared = new Offload({ threads: 2 });
    const stuck = ['a', 'b', 'c', 'd'].map((owner) =>
      shared.run(SPIN, { pattern: '^(a+)+$' }, { deadlineMs: 600_000, owner, tenant: 'greedy' }),
    );
    for (const one of stuck) one.catch(() => undefined);
    const modest = shared.run(ECHO, { value: 1 }, { ...quick, owner: 'e', tenant: 'modest' });
    expect(await modest).toEqual({ value: 1 });
    await shared.close();
    for (const one of stuck) await expect(one).rejects.toMatchObject({ reason: 'closed' });
  });

  test('serve tenants in turn, however many skills one of them has', async () => {
    const order: string[] = [];
    const run = (tenant: string, owner: string): Promise<unknown> =>
      offload.run(ECHO, { value: 1 }, { ...quick, owner, tenant }).then(() => order.push(tenant));
    const greedy = Array.from({ length: 20 }, (_, n) => run('greedy', `skill ${n}`));
    const modest = Array.from({ length: 3 }, () => run('modest', 'one skill'));
    await Promise.all([...greedy, ...modest]);
    // One was under way already.
    expect(order.lastIndexOf('modest')).toBeLessThanOrEqual(6);
  });

  test('give up a task that waits with its caller, at once', async () => {
    const busy = new Offload({ threads: 1 });
    const stuck = busy.run(SPIN, { pattern: '^(a+)+$' }, { deadlineMs: 600_000, owner: 'a' });
    stuck.catch(() => undefined);
    const given = new AbortController();
    const waiting = busy.run(ECHO, { value: 1 }, { ...quick, signal: given.signal });
    given.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'aborted' });
    await busy.close();
  });

  test('give up a task with its caller', async () => {
    const given = new AbortController();
    const running = offload.run(
      SPIN,
      { pattern: '^(a+)+$' },
      { deadlineMs: 60_000, owner: 'a', signal: given.signal },
    );
    await turn();
    given.abort();
    await expect(running).rejects.toMatchObject({ reason: 'aborted' });
  });

  test('refuse more than may wait', async () => {
    const busy = new Offload({ threads: 1 });
    const first = busy.run(ECHO, { value: 1 }, quick);
    const huge = new Uint8Array(MAX_QUEUED_BYTES);
    // The first is under way; so much may wait, and nothing besides.
    const second = busy.run(BYTES, { bytes: huge }, { ...quick, transfer: [huge] });
    second.catch(() => undefined);
    const third = new Uint8Array(1);
    await expect(busy.run(BYTES, { bytes: third }, { ...quick, transfer: [third] })).rejects.toMatchObject({
      code: 'resource_exceeded',
      detail: { limit: 'busy' },
    });
    await expect(first).resolves.toEqual({ value: 1 });
    await busy.close();
  });

  test('are gone after close, and so is what waited', async () => {
    const closed = new Offload({ threads: 1 });
    const waiting = closed.run(SPIN, { pattern: '^(a+)+$' }, { deadlineMs: 60_000, owner: 'a' });
    waiting.catch(() => undefined);
    await closed.close();
    await expect(waiting).rejects.toBeInstanceOf(TaskEndedError);
    await expect(closed.run(ECHO, { value: 1 }, quick)).rejects.toMatchObject({ reason: 'closed' });
  });
});
