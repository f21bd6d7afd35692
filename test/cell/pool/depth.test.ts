/**
 * Calls that make calls: with slots per depth, a tree that is bounded always ends, however few slots there are.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DepthGates, MAX_DEPTH } from '../../../src/cell/pool/gate.ts';

/** A call: the skill whose processes it needs, and the calls that it makes, one after the other or all at once. */
interface Call {
  skill: number;
  isParallel: boolean;
  calls: Call[];
}

const SKILLS = 3;
const callAt = (depth: number): fc.Arbitrary<Call> =>
  fc.record({
    skill: fc.integer({ min: 0, max: SKILLS - 1 }),
    isParallel: fc.boolean(),
    calls: depth === MAX_DEPTH ? fc.constant([]) : fc.array(callAt(depth + 1), { maxLength: 3 }),
  });

interface Machine {
  all: DepthGates;
  ofSkill: DepthGates[];
  /** What every call is treated as; the tests of today's rule leave it out. */
  depthOf: (depth: number) => number;
}

function machine(slots: { all: number; ofSkill: number }, depthOf: Machine['depthOf'] = (n) => n): Machine {
  const gates = (maxConcurrent: number): DepthGates =>
    new DepthGates({ maxConcurrent, maxQueue: Number.POSITIVE_INFINITY });
  return {
    all: gates(slots.all),
    ofSkill: Array.from({ length: SKILLS }, () => gates(slots.ofSkill)),
    depthOf,
  };
}

/** As in the pool: first a slot of the machine, then a process of the skill, both held until all inner calls have ended. */
async function run(call: Call, { all, ofSkill, depthOf }: Machine, depth = 0): Promise<number> {
  const at = depthOf(depth);
  const inner = (one: Call): Promise<number> => run(one, { all, ofSkill, depthOf }, depth + 1);
  return all.at(at).run(() =>
    (ofSkill[call.skill] as DepthGates).at(at).run(async () => {
      if (call.isParallel) return 1 + sum(await Promise.all(call.calls.map(inner)));
      let ended = 1;
      for (const one of call.calls) ended += await inner(one);
      return ended;
    }),
  );
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);
const sizeOf = (call: Call): number => 1 + sum(call.calls.map(sizeOf));

/** Nothing here waits for anything but other calls, so what has not ended after a few turns of the loop never will. */
async function ended<T>(work: Promise<T>): Promise<T | 'stuck'> {
  const patience = (async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return 'stuck' as const;
  })();
  return Promise.race([work, patience]);
}

const trees = fc.array(callAt(0), { minLength: 1, maxLength: 6 });
const slots = fc.record({ all: fc.integer({ min: 1, max: 4 }), ofSkill: fc.integer({ min: 1, max: 3 }) });

describe('slots per depth', () => {
  test('let every bounded set of trees end, whatever the number of slots', async () => {
    await fc.assert(
      fc.asyncProperty(trees, slots, async (calls, given) => {
        const here = machine(given);
        const counts = await ended(Promise.all(calls.map((call) => run(call, here))));
        expect(counts).toEqual(calls.map(sizeOf));
        expect(here.all.queued + sum(here.ofSkill.map(({ queued }) => queued))).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test('are needed: with the same slots for all depths, parents and children wait for each other', async () => {
    const leaf: Call = { skill: 0, isParallel: true, calls: [] };
    const parent: Call = { skill: 1, isParallel: true, calls: [leaf, leaf] };
    const shared = machine({ all: 2, ofSkill: 2 }, () => 0);
    expect(await ended(Promise.all([run(parent, shared), run(parent, shared)]))).toBe('stuck');
    const recursive: Call = { skill: 0, isParallel: true, calls: [leaf] };
    const own = machine({ all: 9, ofSkill: 1 }, () => 0);
    expect(await ended(run(recursive, own))).toBe('stuck');
  });

  test('exist for a few depths only; a deeper call is refused and its parent goes on', async () => {
    const here = machine({ all: 1, ofSkill: 1 });
    expect(() => here.all.at(MAX_DEPTH)).not.toThrow();
    await expect(async () => here.all.at(MAX_DEPTH + 1)).rejects.toMatchObject({
      code: 'resource_exceeded',
      detail: { limit: 'depth' },
    });
  });
});
