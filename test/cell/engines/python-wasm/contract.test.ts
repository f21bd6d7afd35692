/**
 * The cell contract for Python in Wasm: one process serves the calls of a skill, each on a fresh image.
 *
 * @module
 */
import { afterAll, beforeAll } from 'vitest';
import { writeSkill } from '../../../write-skill.ts';
import { cellContract } from '../../contract.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

// Prepares the engine once, because that takes longer than a test should.
beforeAll(async () => {
  const skill = await runtime.load(writeSkill(folder, { source: 'def execute(params):\n    return 1\n' }));
  await runtime.plan(skill, { execution: 'wasm' });
});

cellContract('a Python cell in Wasm', {
  isProcess: false,
  async execute(dir, params, options) {
    const skill = await runtime.load(dir);
    // A start may be slow on a busy machine, and some tests have short timeouts.
    await runtime.warm(skill, { ...options, execution: 'wasm' });
    return runtime.execute(skill, params, { ...options, execution: 'wasm', reject: false });
  },
});
