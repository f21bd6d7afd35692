/**
 * The cell contract with processes that were made ready ahead of their call.
 *
 * @module
 */
import { afterAll } from 'vitest';
import type { RuntimeOptions } from '../../src/index.ts';
import { cellContract, type CellUnderTest } from './contract.ts';
import { openTestRuntime } from './test-runtime.ts';

export function warmedContract(
  name: string,
  start: NonNullable<CellUnderTest['start']>,
  pool: RuntimeOptions['pool'] = {},
): void {
  // One skill at a time, so that ready processes of other tests use neither memory nor CPU time.
  const { runtime, close } = openTestRuntime({ pool: { size: 1, maxStandby: 1, ...pool } });
  afterAll(close);
  cellContract(name, {
    start,
    isProcess: true,
    async execute(dir, params, options) {
      const skill = await runtime.load(dir);
      await runtime.warm(skill, { ...options, execution: 'subprocess' });
      return runtime.execute(skill, params, { ...options, execution: 'subprocess', reject: false });
    },
  });
}
