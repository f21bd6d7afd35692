/**
 * Probes of walls on a busy machine.
 */
import { describe, expect, test } from 'vitest';
import type { WallProbe } from '../../../src/cell/contract.ts';
import { ProcessWall } from '../../../src/cell/walls/process/wall.ts';
import {
  busy,
  CachedProbe,
  probeFailure,
  unavailable,
  type Launch,
} from '../../../src/cell/walls/try-program.ts';
import { SkillError } from '../../../src/errors.ts';

const wall = new ProcessWall();
const running =
  (...argv: string[]): Launch =>
  (spec, grant) =>
    wall.launch({ ...spec, argv }, grant);

describe('a wall that is probed', () => {
  test('works if the program inside it ends well', async () => {
    expect(await probeFailure(running('/usr/bin/true'), 60_000)).toBeUndefined();
  });

  test('does not work if the program fails, and that will not change by itself', async () => {
    expect(await probeFailure(running('/usr/bin/false'), 60_000)).toMatchObject({ isTemporary: false });
  });

  test('may still work if the machine is too slow to start it', async () => {
    const failure = await probeFailure(running('/usr/bin/sleep', '600'), 100);
    expect(failure).toEqual({ reason: 'it did not start within 0.1 s', isTemporary: true });
  });

  test('may still work if the host has no descriptors left', async () => {
    const launch: Launch = () => {
      throw new SkillError('resource_exceeded', 'no descriptors', {
        fix: 'Wait.',
        detail: { limit: 'busy' },
      });
    };
    expect(await probeFailure(launch, 60_000)).toEqual({ reason: 'no descriptors', isTemporary: true });
  });
});

describe('the result of a probe', () => {
  const works: WallProbe = { ...unavailable('works', ''), available: true };

  test('is tried again after a busy moment, and then kept', async () => {
    const results = [busy('too slow'), works];
    const probe = new CachedProbe(async () => results.shift() ?? unavailable('probed once too often', ''));
    expect(await Promise.all([probe.get(), probe.get()])).toEqual([busy('too slow'), busy('too slow')]);
    expect([await probe.get(), await probe.get()]).toEqual([works, works]);
  });

  test('is kept if the wall cannot work here', async () => {
    const results = [unavailable('not installed', 'Install it.')];
    const probe = new CachedProbe(async () => results.shift() ?? works);
    expect([(await probe.get()).summary, (await probe.get()).summary]).toEqual([
      'not installed',
      'not installed',
    ]);
  });
});
