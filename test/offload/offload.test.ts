import { spawnSync } from 'node:child_process';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import { Deadline } from '../../src/offload/deadline.ts';
import { MAX_QUEUED_BYTES, Offload } from '../../src/offload/offload.ts';
import { TaskEndedError, type Task } from '../../src/offload/task.ts';

const module = new URL('./test-tasks.ts', import.meta.url).href;
const STARVED = fileURLToPath(new URL('./starved-host.ts', import.meta.url));
const ECHO: Task<{ value: unknown }, { value: unknown }> = { module, name: 'echo' };
const SPIN: Task<{ pattern: string }, boolean> = { module, name: 'backtrack' };
const SLEEP: Task<{ ms: number }, string> = { module, name: 'sleep' };
const FILL: Task<null, number> = { module, name: 'fill' };
const FAIL: Task<{ skill: boolean }, never> = { module, name: 'fail' };
const BYTES: Task<{ bytes: Uint8Array }, { bytes: Uint8Array }> = { module, name: 'bytes' };
const EXIT: Task<null, never> = { module, name: 'exit' };
const THROW_LATER: Task<null, string> = { module, name: 'throwLater' };
const UNSENDABLE: Task<null, never> = { module, name: 'unsendable' };
const SEES: Task<null, string[]> = { module, name: 'environment' };

const offload = new Offload({ threads: 1 });
afterAll(() => offload.close());
const quick = { deadlineMs: 20_000, owner: 'test' };

describe('worker threads', () => {
  test('run a task and count it', async () => {
    expect(await offload.run(ECHO, { value: [1, { a: 'ä' }] }, quick)).toEqual({ value: [1, { a: 'ä' }] });
    expect(offload.counts.done['echo']).toBe(1);
  });

  test('transfer bytes in both directions', async () => {
    const bytes = new Uint8Array(100_000).fill(7);
    const back = await offload.run(BYTES, { bytes }, { ...quick, transfer: [bytes] });
    expect(bytes.byteLength).toBe(0);
    expect(back.bytes.byteLength).toBe(100_000);
    expect(back.bytes[99_999]).toBe(8);
  });

  test('stop a slow pattern at its deadline, and the next task runs', async () => {
    const before = offload.counts.ended;
    const ended = offload.run(SPIN, { pattern: '^(a+)+$' }, { deadlineMs: 50, owner: 'hostile' });
    await expect(ended).rejects.toBeInstanceOf(TaskEndedError);
    await expect(ended).rejects.toMatchObject({ reason: 'deadline' });
    expect(offload.counts.ended).toBe(before + 1);
    expect(await offload.run(ECHO, { value: 1 }, quick)).toEqual({ value: 1 });
  });

  test('get their CPU time even if they are rarely scheduled', async () => {
    expect(await offload.run(SLEEP, { ms: 600 }, { deadlineMs: 200, owner: 'slow' })).toBe('slept');
  });

  test('are terminated after thirty deadlines, even if they used no CPU time', async () => {
    const ended = offload.run(SLEEP, { ms: 600_000 }, { deadlineMs: 100, owner: 'stuck' });
    await expect(ended).rejects.toMatchObject({ reason: 'deadline' });
  });

  test('end without the host if they run out of memory', async () => {
    await expect(offload.run(FILL, null, { deadlineMs: 60_000, owner: 'hostile' })).rejects.toMatchObject({
      reason: 'memory',
    });
    expect(await offload.run(ECHO, { value: 2 }, quick)).toEqual({ value: 2 });
  });

  test('pass on errors as they were thrown', async () => {
    const thrown: unknown = await offload.run(FAIL, { skill: true }, quick).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(SkillError);
    expect(thrown).toMatchObject({ code: 'manifest_invalid', fix: 'Mend it.', detail: { at: 3 } });
    await expect(offload.run(FAIL, { skill: false }, quick)).rejects.toThrow('plain');
  });

  test('cannot see the environment', async () => {
    expect(await offload.run(SEES, null, quick)).toEqual([]);
  });

  test('serve owners in turn, however many tasks one of them queued', async () => {
    const order: string[] = [];
    const run = (owner: string, name: string): Promise<unknown> =>
      offload.run(ECHO, { value: name }, { ...quick, owner }).then(() => order.push(name));
    const greedy = Array.from({ length: 20 }, (_, n) => run('greedy', `greedy ${n}`));
    const modest = run('modest', 'modest');
    await Promise.all([...greedy, modest]);
    // One was under way already.
    expect(order.indexOf('modest')).toBeLessThanOrEqual(2);
  });

  test('are not all used by a tenant with many skills', async () => {
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

  test('drop a queued task immediately if its caller cancels', async () => {
    const busy = new Offload({ threads: 1 });
    const stuck = busy.run(SPIN, { pattern: '^(a+)+$' }, { deadlineMs: 600_000, owner: 'a' });
    stuck.catch(() => undefined);
    const given = new AbortController();
    const waiting = busy.run(ECHO, { value: 1 }, { ...quick, signal: given.signal });
    given.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'aborted' });
    await busy.close();
  });

  test('stop a running task if its caller cancels', async () => {
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

  test('reject tasks if the queue is full', async () => {
    const busy = new Offload({ threads: 1 });
    const first = busy.run(ECHO, { value: 1 }, quick);
    const huge = new Uint8Array(MAX_QUEUED_BYTES);
    // The first is running; this is the most that may be queued.
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

  test('end on close, which also rejects queued tasks', async () => {
    const closed = new Offload({ threads: 1 });
    const waiting = closed.run(SPIN, { pattern: '^(a+)+$' }, { deadlineMs: 60_000, owner: 'a' });
    waiting.catch(() => undefined);
    await closed.close();
    await expect(waiting).rejects.toBeInstanceOf(TaskEndedError);
    await expect(closed.run(ECHO, { value: 1 }, quick)).rejects.toMatchObject({ reason: 'closed' });
  });
});

describe('the deadline of a task', () => {
  test('is kept if the thread can never report its CPU time', async () => {
    // As in native code, before the deadline starts: not even the first report comes.
    const silent = { cpuUsage: () => new Promise(() => {}) } as unknown as Worker;
    const missed = Promise.withResolvers<void>();
    const deadline = new Deadline(silent, 50, missed.resolve);
    await missed.promise;
    deadline.clear();
  });

  test('is not missed by a silent thread while the whole process gets too little CPU time', async () => {
    const [ms, began, cpu] = [300, performance.now(), process.cpuUsage()];
    const silent = { cpuUsage: () => new Promise(() => {}) } as unknown as Worker;
    const missed = Promise.withResolvers<void>();
    const deadline = new Deadline(silent, ms, missed.resolve);
    await missed.promise;
    deadline.clear();
    const { user, system } = process.cpuUsage(cpu);
    const isSpent = (user + system) / 1000 >= ms;
    const isOver = performance.now() - began >= 10 * ms;
    expect(isSpent || isOver).toBe(true);
  });
});

describe('a worker thread that dies', () => {
  test.each([
    ['exiting', EXIT],
    ['answering with a value that cannot be sent', UNSENDABLE],
  ])('during a task, by %s, fails it with a typed error and is replaced', async (_how, task) => {
    await using own = closing(new Offload({ threads: 1 }));
    // Twice as many tasks as threads, so that a lost thread would be noticed.
    for (let times = 0; times < 3; times++) {
      const failing = own.run(task, null, quick);
      const behind = own.run(ECHO, { value: times }, quick);
      await expect(failing).rejects.toMatchObject({ name: 'SkillError', code: 'internal' });
      expect(await behind, 'what waited behind it').toEqual({ value: times });
    }
    expect(own.counts).toMatchObject({ ended: 3, started: 4, done: { echo: 3 } });
  });

  test('outside a task fails none and is replaced', async () => {
    await using own = closing(new Offload({ threads: 1 }));
    expect(await own.run(THROW_LATER, null, quick)).toBe('done');
    await expect.poll(() => own.counts.ended).toBe(1);
    expect(await own.run(ECHO, { value: 1 }, quick)).toEqual({ value: 1 });
    expect(own.counts.started).toBe(2);
  });

  test('is not kept busy if the input cannot be sent', async () => {
    await using own = closing(new Offload({ threads: 1 }));
    await expect(own.run(ECHO, { value: () => 1 }, quick)).rejects.toThrow('could not be cloned');
    expect(await own.run(ECHO, { value: 1 }, quick)).toEqual({ value: 1 });
    expect(own.counts).toMatchObject({ ended: 0, started: 1 });
  });

  test('at its start fails the task with a typed error, and later ones work', async () => {
    const host = spawnSync('prlimit', ['--nproc=4096', process.execPath, STARVED], {
      encoding: 'utf8',
      timeout: 200_000,
      ...(process.getuid?.() === 0 ? { uid: 65_433, gid: 65_433 } : {}),
    });
    expect(host.stderr).toBe('');
    expect(JSON.parse(host.stdout)).toEqual({ starved: ['internal', 'internal', 'internal'], after: 1 });
  });
});

function closing(offload: Offload): Offload & AsyncDisposable {
  return Object.assign(offload, { [Symbol.asyncDispose]: () => offload.close() });
}
