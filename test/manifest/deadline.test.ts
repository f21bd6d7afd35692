import { describe, expect, test } from 'vitest';
import { createGuard, DeadlineError } from '../../src/manifest/deadline.ts';

const MS = 100;
const never = new Int32Array(new SharedArrayBuffer(4));

/** Takes time without CPU time, like a thread on a machine that runs other programs. */
function starve(): void {
  Atomics.wait(never, 0, 0);
}

describe('a guard', () => {
  test('returns what the work returns, and throws what it throws', () => {
    const guard = createGuard();
    expect(guard(MS, () => 7)).toBe(7);
    expect(() =>
      guard(MS, () => {
        throw new TypeError('broken');
      }),
    ).toThrow(TypeError);
  });

  test('stops work that uses its CPU time up', () => {
    const spin = (): void => {
      for (;;);
    };
    // Long enough that a busy machine gives it some processor time before the guard gives up.
    expect(() => createGuard()(1000, spin)).toThrow(DeadlineError);
  });

  test('starts work again that got no CPU time', () => {
    let tries = 0;
    const work = (): string => {
      tries++;
      if (tries < 3) starve();
      return 'done';
    };
    expect(createGuard()(MS, work)).toBe('done');
    expect(tries).toBe(3);
  });

  test('blames the machine and not the work if it never gets CPU time', () => {
    expect(() => createGuard()(MS, starve)).toThrow(
      expect.objectContaining({ code: 'resource_exceeded', detail: { limit: 'busy' } }),
    );
  });
});
