/**
 * The control group of a fork is lent again as soon as the fork has ended, and then counts for another.
 */
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ForkedProcess } from '../../../../src/cell/engines/python/forked-process.ts';
import type { Cgroup } from '../../../../src/cell/linux/cgroup/contract.ts';
import type { Grant } from '../../../../src/policy/grant.ts';

test('what was measured of a fork that is done does not change with the next user of its group', async () => {
  const counted = { cpuMs: 7, memoryPeakBytes: 4096 };
  const group = { usage: () => ({ ...counted }), oomKilled: () => false, remove: async () => true };
  const fork = new ForkedProcess({
    channel: new Socket(),
    log: new Socket(),
    grant: { limits: { cpu: 60_000, memory: 2 ** 30 } } as Grant,
    find: () => ({ pid: process.pid, cgroup: group as unknown as Cgroup }),
    makeCgroup: async () => undefined,
    end: () => undefined,
    endAll: () => undefined,
  });
  fork.onForked(2);
  expect(await fork.confine()).toBe(true);
  expect(fork.usage()).toEqual({ cpuMs: 7, memoryPeakBytes: 4096 });
  fork.kill('done');
  fork.onExit({ code: 137, signal: null });
  Object.assign(counted, { cpuMs: 900, memoryPeakBytes: 1 });
  expect(fork.usage()).toEqual({ cpuMs: 7, memoryPeakBytes: 4096 });
});
