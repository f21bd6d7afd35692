import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Runtime, Skill } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

let opened: TestRuntime;
let runtime: Runtime;

beforeAll(() => {
  opened = openTestRuntime();
  ({ runtime } = opened);
});
afterAll(() => opened.close());

function script(manifest: Record<string, unknown>): Promise<Skill> {
  const files = { 'skill.js': 'export const execute = () => 1;\n' };
  return runtime.load(writeSkill(opened.folder, { files, manifest }));
}

test('a plan that cannot change is reused for the same call', async () => {
  const skill = await script({ execution: ['wasm'] });
  const plan = await runtime.plan(skill);
  expect(await runtime.plan(skill)).toBe(plan);
  const shorter = await runtime.plan(skill, { timeout: 100 });
  expect(shorter.grant.limits.timeout).toBe(100);
  expect((await runtime.plan(skill)).grant.limits.timeout).toBe(plan.grant.limits.timeout);
});

test.each([
  ['declares a variable', { execution: ['wasm'], env_vars: { COLOUR: { required: false } } }],
  [
    'is granted a folder',
    { execution: ['wasm'], capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } },
  ],
  [
    'runs in another mode than it prefers',
    { execution: ['container', 'wasm'], container: { image: 'localhost/none:1' } },
  ],
  ['has a process for each call', { execution: ['subprocess'] }],
])('a new plan is made for a skill that %s', async (_, manifest) => {
  const skill = await script(manifest);
  const plan = await runtime.plan(skill, { workspace: opened.folder });
  expect(await runtime.plan(skill, { workspace: opened.folder })).not.toBe(plan);
});
