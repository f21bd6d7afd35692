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

test('a watchdog keeps the memory limit, and says so', async () => {
  const pair = (await runtime.doctor()).find((one) => one.engine === 'python');
  expect(pair?.enforces.memory.by).toBe('watchdog');
});

cellContract('a cold cell without a cgroup', {
  start: 'cold',
  isProcess: true,
  execute: (dir, params, options) =>
    runtime.execute(dir, params, { ...options, execution: 'subprocess', reject: false }),
});
