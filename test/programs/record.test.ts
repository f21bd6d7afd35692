/**
 * Recording a skill that calls others proposes the names that it called, and no more.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Recording } from '../../src/index.ts';
import type { Allowed } from '../../src/record/observation.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';
import { writeCommonSkills, writeScriptSkill } from './skills-of-tests.ts';

const { runtime, folder, close } = openTestRuntime();
beforeAll(() => writeCommonSkills(folder));
afterAll(close);

const SOURCE = `export async function execute() {
  const { n } = await skills.math.double({ n: 1 });
  const denied = await skills.text.echo({}).then(() => 'called', (error) => error.code);
  return { n, denied };
}`;

function recorded(skills: string[], allow: Allowed): Promise<Recording> {
  const dir = writeScriptSkill(folder, 'math/caller', { source: SOURCE, capabilities: { skills } });
  return runtime.record(dir, {}, { allow });
}

test('what was called becomes the list of skills; what was denied is marked', async () => {
  const { outcome, manifest, unused, observed } = await recorded(['math/*', 'web/*'], {
    skills: ['math/double'],
  });
  expect(outcome).toMatchObject({ ok: true, result: { n: 2, denied: 'capability_denied' } });
  expect(observed.skills).toEqual([
    { name: 'math/double', denied: false },
    { name: 'text/echo', denied: true },
  ]);
  expect(parse(manifest)).toMatchObject({ capabilities: { skills: ['math/double', 'text/echo'] } });
  expect(manifest).toMatch(/text\/echo.*denied in this run/s);
  expect(manifest).not.toContain('math/*');
  expect(unused).toContain('skills web/*');
  expect(observed.other).toEqual([]);
});

test('without permission every call is denied and still proposed', async () => {
  const { outcome, manifest } = await recorded(['math/double'], {});
  expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
  expect(manifest).toMatch(/math\/double\s*# requested, but denied in this run/);
});

test('a skill that calls none loses the list', async () => {
  const dir = writeScriptSkill(folder, 'math/quiet', {
    source: 'export const execute = () => ({});',
    capabilities: { skills: ['math/*'] },
  });
  const { manifest, unused } = await runtime.record(dir, {});
  expect(manifest).not.toContain('math/*');
  expect(unused).toEqual(['skills math/*']);
});

test('the source of a skill that calls others without declaring it is a warning at load', async () => {
  const typescript = writeScriptSkill(folder, 'math/undeclared', {
    source: `${SOURCE}\n`,
    capabilities: {},
  });
  const { warnings } = (await runtime.load(typescript)).bundle;
  expect(warnings).toContain(
    'The code calls the skill "math/double" (skill.ts:2), but the manifest declares no "capabilities.skills".',
  );
});

test('also in Python, whatever the spelling, unless the name is a variable of its own', async () => {
  const python = (id: string, source: string): string =>
    writeSkill(folder, { id, manifest: { execution: ['wasm'] }, source });
  const calls = python(
    'math/python_calls',
    'def execute(params):\n    skills.math.double(n=1)\n    return skills["text/echo"](a=1)\n',
  );
  expect((await runtime.load(calls)).bundle.inspection.calls).toEqual([
    { value: 'math/double', at: 'skill.py:2' },
    { value: 'text/echo', at: 'skill.py:3' },
  ]);
  const own = python(
    'math/python_own',
    'def execute(params, skills=None):\n    skills = params\n    return skills.math.double(n=1)\n',
  );
  expect((await runtime.load(own)).bundle.inspection.calls).toEqual([]);
});
