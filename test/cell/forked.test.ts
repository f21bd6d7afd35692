/**
 * The cell contract, with processes forked from a zygote.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { cellContract } from './contract.ts';
import { openTestRuntime } from './test-runtime.ts';

// One skill at a time, so that zygotes of other tests use no memory.
const { runtime, close } = openTestRuntime({ pool: { size: 1, maxStandby: 1, ready: 'zygote' } });
afterAll(close);

cellContract('a forked cell', {
  start: 'zygote',
  isProcess: true,
  async execute(dir, params, options) {
    const skill = await runtime.load(dir);
    await runtime.warm(skill, { ...options, execution: 'subprocess' });
    return runtime.execute(skill, params, { ...options, execution: 'subprocess', reject: false });
  },
});
