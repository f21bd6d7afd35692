/**
 * The cell contract without control groups.
 *
 * @module
 */
import { afterAll, expect, test } from 'vitest';
import { cellContract } from '../contract.ts';
import { openTestRuntime } from '../test-runtime.ts';

const { runtime, close } = openTestRuntime({ pool: { size: 0 }, jail: { cgroups: false } });
afterAll(close);

test('without a cgroup, RLIMIT_AS enforces the memory limit of one process, but nothing that of several', async () => {
  const pair = (await runtime.doctor()).find((one) => one.wall === 'jail' && one.engine === 'python');
  expect(pair?.enforces.memory).toMatchObject({ by: 'kernel', how: expect.stringContaining('RLIMIT_AS') });
  expect(pair?.enforces['memory.processes'].by).toBe('nobody');
});

cellContract('a cold cell without a cgroup', {
  start: 'cold',
  isProcess: true,
  isGrouped: false,
  execute: (dir, params, options) =>
    runtime.execute(dir, params, { ...options, execution: 'subprocess', reject: false }),
});
