/**
 * The contract of a cell, for Python in Wasm: one process serves the calls of a skill, each on a fresh image.
 *
 * @module
 */
import { afterAll } from 'vitest';
import { cellContract } from '../contract.ts';
import { openTestRuntime } from '../test-runtime.ts';

const { runtime, close } = openTestRuntime();
afterAll(close);

cellContract('a Python cell in Wasm', {
  isProcess: false,
  async execute(dir, params, options) {
    const skill = await runtime.load(dir);
    // A start takes long on a busy machine, and some tests give a call little time.
    await runtime.warm(skill, { ...options, execution: 'wasm' });
    return runtime.execute(skill, params, { ...options, execution: 'wasm', reject: false });
  },
});
