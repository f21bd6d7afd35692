/**
 * The contract of a cell on a machine where no control group can be had.
 *
 * @module
 */
import { afterAll, expect, test } from 'vitest';
import { cellContract } from './contract.ts';
import { openTestRuntime } from './test-runtime.ts';

const { runtime, close } = openTestRuntime({ pool: { size: 0 }, jail: { cgroups: false } });
afterAll(close);

test('the address space keeps the memory limit of one process, and nobody that of several', async () => {
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
