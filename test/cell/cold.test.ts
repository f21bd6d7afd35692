/**
 * The cell contract, with a new process for each call.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { cellContract } from './contract.ts';
import { openTestRuntime } from './test-runtime.ts';

const { runtime, close } = openTestRuntime({ pool: { size: 0 } });
afterAll(close);

cellContract('a cold cell', {
  start: 'cold',
  isProcess: true,
  execute: (dir, params, options) =>
    runtime.execute(dir, params, { ...options, execution: 'subprocess', reject: false }),
});
