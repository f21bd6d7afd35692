import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../src/cell/gate.ts';

/** Work that ends when the test says so. */
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
  test('lets those who give up leave the queue, and their place go to the next', async () => {
    const gate = new Gate({ maxConcurrent: 1, maxQueue: 1 });
    const [first, second, third] = [held(), held(), held()];
    const running = gate.through(first.work);
    const patience = new AbortController();
    const waiting = gate.through(second.work, patience.signal);
    patience.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    const next = gate.through(third.work);
    for (const job of [first, second, third]) job.end();
    expect(await Promise.all([running, next])).toEqual(['done', 'done']);
    expect(second.started()).toBe(false);
  });

  test('lets in as many as allowed, keeps the next waiting, and refuses the rest at once', async () => {
    const gate = new Gate({ maxConcurrent: 2, maxQueue: 1 });
    const jobs = [held(), held(), held()] as const;
    const runs = jobs.map((job) => gate.through(job.work));
    await turn();
    expect(jobs.map((job) => job.started())).toEqual([true, true, false]);
    await expect(gate.through(() => Promise.resolve(1))).rejects.toMatchObject({
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

  test('work that fails gives its place back', async () => {
    const gate = new Gate({ maxConcurrent: 1, maxQueue: 1 });
    const [bad, good] = [held(), held()];
    const failing = gate.through(bad.work);
    const waiting = gate.through(good.work);
    bad.fail();
    await expect(failing).rejects.toThrow('failed');
    good.end();
    expect(await waiting).toBe('done');
    expect(await gate.through(() => Promise.resolve('next'))).toBe('next');
  });

  test('those who wait come in the order in which they came', async () => {
    const gate = new Gate({ maxConcurrent: 1, maxQueue: 10 });
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4, 5].map((n) =>
        gate.through(async () => {
          await turn();
          order.push(n);
        }),
      ),
    );
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  test('never more than allowed are inside, and everybody gets an answer', async () => {
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
            gate.through(async () => {
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
