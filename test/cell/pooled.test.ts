/**
 * The cell contract, with processes that were started ahead of their call.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { cellContract } from './contract.ts';
import { openTestRuntime } from './test-runtime.ts';

// One skill at a time, so that cells of other tests use no CPU time.
const { runtime, close } = openTestRuntime({ pool: { size: 1, maxStandby: 1 } });
afterAll(close);

cellContract('a pooled cell', {
  start: 'pool',
  isProcess: true,
  async execute(dir, params, options) {
    const skill = await runtime.load(dir);
    await runtime.warm(skill, { ...options, execution: 'subprocess' });
    return runtime.execute(skill, params, { ...options, execution: 'subprocess', reject: false });
  },
});
