/**
 * The contract of a cell, for Python in Wasm: one process serves the calls of a skill, each on a fresh image.
 *
 * @module
 */
import { afterAll, beforeAll } from 'vitest';
import { writeSkill } from '../../write-skill.ts';
import { cellContract } from '../contract.ts';
import { openTestRuntime } from '../test-runtime.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

// The engine is prepared once, which takes longer than any test should.
beforeAll(async () => {
  const skill = await runtime.load(writeSkill(folder, { source: 'def execute(params):\n    return 1\n' }));
  await runtime.plan(skill, { execution: 'wasm' });
}, 120_000);

cellContract('a Python cell in Wasm', {
  isProcess: false,
  async execute(dir, params, options) {
    const skill = await runtime.load(dir);
    // A start takes long on a busy machine, and some tests give a call little time.
    await runtime.warm(skill, { ...options, execution: 'wasm' });
    return runtime.execute(skill, params, { ...options, execution: 'wasm', reject: false });
  },
});
