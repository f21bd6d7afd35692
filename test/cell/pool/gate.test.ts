import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../../src/cell/pool/gate.ts';

/** Work that the test ends explicitly. */
function held(): { work: () => Promise<string>; end: () => void; fail: () => void; started: () => boolean } {
  let started = false;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return {
    work: () => {
      started = true;
      return promise;
    },
    end: () => resolve('done'),
    fail: () => reject(new Error('failed')),
    started: () => started,
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Gate', () => {
  test('removes cancelled calls from the queue', async () => {
    const gate = new Gate({ maxConcurrent: 1, maxQueue: 1 });
    const [first, second, third] = [held(), held(), held()];
    const running = gate.run(first.work);
    const patience = new AbortController();
    const waiting = gate.run(second.work, patience.signal);
    patience.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    const next = gate.run(third.work);
    for (const job of [first, second, third]) job.end();
    expect(await Promise.all([running, next])).toEqual(['done', 'done']);
    expect(second.started()).toBe(false);
  });

  test('runs up to the limit, queues the next, and rejects the rest immediately', async () => {
    const gate = new Gate({ maxConcurrent: 2, maxQueue: 1 });
    const jobs = [held(), held(), held()] as const;
    const runs = jobs.map((job) => gate.run(job.work));
    await turn();
    expect(jobs.map((job) => job.started())).toEqual([true, true, false]);
    await expect(gate.run(() => Promise.resolve(1))).rejects.toMatchObject({
      code: 'resource_exceeded',
      detail: { limit: 'busy', maxConcurrent: 2, maxQueue: 1 },
    });
    jobs[0].end();
    await runs[0];
    await turn();
    expect(jobs[2].started()).toBe(true);
    for (const job of jobs) job.end();
    expect(await Promise.all(runs)).toEqual(['done', 'done', 'done']);
  });

  test('frees the slot of work that fails', async () => {
    const gate = new Gate({ maxConcurrent: 1, maxQueue: 1 });
    const [bad, good] = [held(), held()];
    const failing = gate.run(bad.work);
    const waiting = gate.run(good.work);
    bad.fail();
    await expect(failing).rejects.toThrow('failed');
    good.end();
    expect(await waiting).toBe('done');
    expect(await gate.run(() => Promise.resolve('next'))).toBe('next');
  });

  test('runs queued work in order', async () => {
    const gate = new Gate({ maxConcurrent: 1, maxQueue: 10 });
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4, 5].map((n) =>
        gate.run(async () => {
          await turn();
          order.push(n);
        }),
      ),
    );
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  test('gives every owner one slot and a queue of its own, whatever the others hold', async () => {
    const gate = new Gate({ maxConcurrent: 1, maxQueue: 1 });
    const [first, second, third, fourth] = [held(), held(), held(), held()] as const;
    const runs = [first, second].map((job) => gate.run(job.work, undefined, 'greedy'));
    await expect(gate.run(third.work, undefined, 'greedy')).rejects.toMatchObject({
      detail: { limit: 'busy' },
    });
    runs.push(...[third, fourth].map((job) => gate.run(job.work, undefined, 'other')));
    await turn();
    const started = (): boolean[] => [first, second, third, fourth].map((job) => job.started());
    expect(started()).toEqual([true, false, true, false]);
    third.end();
    await runs[2];
    await turn();
    // The slot was beyond the limit, so it stays with the owner that it was for.
    expect(started()).toEqual([true, false, true, true]);
    for (const job of [first, second, fourth]) job.end();
    expect(await Promise.all(runs)).toEqual(['done', 'done', 'done', 'done']);
    expect(gate.queued).toBe(0);
  });

  test('runs at most one call beyond its limit for each owner, and ends every call', async () => {
    const call = fc.record({
      owner: fc.constantFrom('a', 'b', 'c', undefined),
      turns: fc.nat(3),
      isAborted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(call, { maxLength: 25 }),
        async (maxConcurrent, all) => {
          const gate = new Gate({ maxConcurrent, maxQueue: 100 });
          let [inside, most] = [0, 0];
          const runs = all.map(({ owner, turns, isAborted }) => {
            const work = async (): Promise<void> => {
              most = Math.max(most, ++inside);
              for (let n = 0; n < turns; n++) await turn();
              inside--;
            };
            return gate.run(work, isAborted ? AbortSignal.abort() : undefined, owner);
          });
          await Promise.allSettled(runs);
          expect(most).toBeLessThanOrEqual(maxConcurrent + 3);
          expect(gate.queued).toBe(0);
          expect(gate.enter(undefined)).toBeUndefined();
        },
      ),
      { numRuns: 50 },
    );
  });

  test('never exceeds its limit, and settles every call', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }),
        async (maxConcurrent, maxQueue, delays) => {
          const gate = new Gate({ maxConcurrent, maxQueue });
          let inside = 0;
          let most = 0;
          const runs = delays.map((turns) =>
            gate.run(async () => {
              most = Math.max(most, ++inside);
              for (let n = 0; n < turns; n++) await turn();
              inside--;
            }),
          );
          const ended = await Promise.allSettled(runs);
          const refused = ended.filter(({ status }) => status === 'rejected').length;
          expect(most).toBeLessThanOrEqual(maxConcurrent);
          expect(refused).toBe(Math.max(0, delays.length - maxConcurrent - maxQueue));
        },
      ),
      { numRuns: 50 },
    );
  });
});
