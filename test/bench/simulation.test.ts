/**
 * The simulation of large fleets: repeatable, loses no call, and agrees with what queueing theory knows.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHOICES, savedTimes, SCALES } from '../../bench/simulation/designs.ts';
import { fairShares, jain } from '../../bench/simulation/fairness.ts';
import type { Run } from '../../bench/simulation/model.ts';
import { fitted, seeded } from '../../bench/simulation/random.ts';
import { rowOf, runOf } from '../../bench/simulation/run-simulation.ts';
import { simulate } from '../../bench/simulation/simulate.ts';
import { quantile } from '../../bench/runner/statistics.ts';

const SERVICE_MS = 10;

/** One worker with one place and a fixed service time: M/D/1. */
function single(more: Partial<Run>): Run {
  return {
    ...{ seed: 1, workers: 1, slots: 1, warmPlaces: 1, warmUpMs: 10_000, measuredMs: 2_000_000 },
    ...{ queue: 1e9, queueOfAll: 1e9, concurrent: 1e9 },
    load: { tenants: 1, floods: 0, quietRate: 50, floodRate: 0 },
    design: { name: 'one' },
    service: () => SERVICE_MS,
    ...more,
  };
}

const anyRun = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
  workers: fc.integer({ min: 1, max: 12 }),
  slots: fc.integer({ min: 1, max: 3 }),
  warmPlaces: fc.integer({ min: 1, max: 5 }),
  queue: fc.integer({ min: 1, max: 50 }),
  queueOfAll: fc.integer({ min: 1, max: 200 }),
  concurrent: fc.integer({ min: 1, max: 4 }),
  load: fc
    .record({ floods: fc.integer({ min: 1, max: 3 }), quiet: fc.integer({ min: 1, max: 20 }) })
    .chain(({ floods, quiet }) =>
      fc.record({
        tenants: fc.constant(floods + quiet),
        floods: fc.constant(floods),
        quietRate: fc.integer({ min: 1, max: 500 }),
        floodRate: fc.integer({ min: 0, max: 1000 }),
      }),
    ),
  design: fc.record(
    {
      name: fc.constant('any'),
      queues: fc.integer({ min: 1, max: 5 }),
      prefersWarm: fc.boolean(),
      workersPerTenant: fc.integer({ min: 1, max: 4 }),
    },
    { requiredKeys: ['name'] },
  ),
  warmUpMs: fc.constant(200),
  measuredMs: fc.integer({ min: 1, max: 2000 }),
});

function withService(run: Omit<Run, 'service'>): Run {
  return { ...run, service: (isWarm, random) => (isWarm ? 5 : 40) * (0.5 + random()) };
}

test('the same seed gives the same result, and another seed another one', () => {
  const [scale] = SCALES;
  const [choice] = CHOICES;
  if (!scale || !choice) throw new Error('Nothing is simulated');
  const run = runOf(scale, choice, savedTimes());
  const first = simulate(run);
  expect(simulate(run)).toEqual(first);
  expect(simulate({ ...run, seed: run.seed + 1 }).latencies).not.toEqual(first.latencies);
});

test('every accepted call has ended, runs or waits, and no place is used twice', () => {
  fc.assert(
    fc.property(anyRun, (settings) => {
      const run = withService(settings);
      const { accepted, ended, waiting, running } = simulate(run);
      expect(accepted).toBe(ended + running + waiting);
      expect(waiting).toBeGreaterThanOrEqual(0);
      expect(running).toBeLessThanOrEqual(run.workers * run.slots);
      expect(waiting + running).toBeLessThanOrEqual(run.queueOfAll);
    }),
  );
});

test('no worker is idle while a call that it may run waits', () => {
  fc.assert(
    fc.property(anyRun, (settings) => {
      const { workersPerTenant: _all, ...design } = settings.design;
      const run = withService({ ...settings, design, concurrent: 1e9 });
      const { waiting, running } = simulate(run);
      if (waiting > 0) expect(running).toBe(run.workers * run.slots);
    }),
  );
});

test.each([0.2, 0.5, 0.8])('one worker with a fixed service time at load %d waits as M/D/1 does', (load) => {
  const rate = (load * 1000) / SERVICE_MS;
  const { latencies } = simulate(single({ load: { tenants: 1, floods: 0, quietRate: rate, floodRate: 0 } }));
  const mean = latencies.reduce((sum, one) => sum + one, 0) / latencies.length;
  const expected = SERVICE_MS + (load * SERVICE_MS) / (2 * (1 - load));
  expect(Math.abs(mean / expected - 1)).toBeLessThan(0.03);
});

test('one overloaded worker ends exactly one call per service time', () => {
  const { throughput, fairness } = simulate(
    single({ measuredMs: 100_000, load: { tenants: 1, floods: 0, quietRate: 200, floodRate: 0 } }),
  );
  expect(throughput).toBe(1000 / SERVICE_MS);
  expect(fairness).toBe(1);
});

test('a flood makes quiet tenants wait in a shared queue, and not beside a queue of their own', () => {
  const [scale] = SCALES;
  const [shared] = CHOICES;
  const own = CHOICES.find(({ name }) => name === 'queue per tenant');
  if (!scale || !shared || !own) throw new Error('Nothing is simulated');
  const times = savedTimes();
  const [worse, better] = [rowOf(scale, shared, times), rowOf(scale, own, times)];
  expect(worse.quietP99).toBeGreaterThan(5 * worse.aloneP99);
  expect(better.quietP99).toBeLessThan(2 * better.aloneP99);
  expect(better.fairness).toBeGreaterThan(worse.fairness);
});

test('drawn times have the measured median and 95th percentile', () => {
  const { warm, cold } = savedTimes();
  for (const measured of [warm, cold]) {
    const random = seeded(7);
    const draw = fitted(measured);
    const drawn = Array.from({ length: 100_000 }, () => draw(random));
    expect(quantile(drawn, 0)).toBeGreaterThanOrEqual(measured.min);
    expect(quantile(drawn, 0.5) / measured.median).toBeCloseTo(1, 1);
    expect(quantile(drawn, 0.95) / measured.p95).toBeCloseTo(1, 1);
  }
});

test('fair shares give nobody more than it asked for, and divide the rest evenly', () => {
  expect(fairShares([1, 10, 100], 31)).toEqual([1, 10, 20]);
  expect(fairShares([5, 5], 4)).toEqual([2, 2]);
  expect(jain([1, 1, 1])).toBe(1);
  expect(jain([1, 0, 0, 0])).toBe(0.25);
});
