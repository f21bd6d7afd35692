/**
 * A component in C that calls other skills through `skillcell:skill/skills`.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/index.ts';
import { buildSkill } from '../../src/inside.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeCommonSkills } from '../programs/skills-of-tests.ts';
import { bundled, editManifest } from './copy-skill.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);
let dir: string;

function copy(name: string): string {
  const target = join(folder, name);
  cpSync(join(import.meta.dirname, 'call_skills'), target, { recursive: true });
  cpSync(bundled('web/fetch_status/src/skillcell.h'), join(target, 'src/skillcell.h'));
  return target;
}

beforeAll(() => {
  writeCommonSkills(folder);
  dir = copy('declared');
  buildSkill(dir);
});

function run(skill: string, params: unknown, more: object = {}): Promise<Outcome> {
  return runtime.execute(dir, { skill, params: JSON.stringify(params), ...more }, { reject: false });
}

describe('a component that calls skills', () => {
  test('gets the result, and its outcome lists the call', async () => {
    const outcome = await run('math/double', { n: 21 });
    expect(outcome).toMatchObject({
      ok: true,
      result: { n: 42 },
      capabilities: { used: [{ capability: 'skill', asked: 'call math/double', declared: 'math/*' }] },
    });
    expect(outcome.children).toMatchObject([{ skill: 'math/double', code: 'ok', depth: 1 }]);
  });

  test('starts several, gets each result once, and is told when nothing is left to wait for', async () => {
    const outcome = await run('math/double', { n: 4 }, { twice: 'yes' });
    expect(outcome).toMatchObject({ ok: true, result: [{ n: 8 }, { n: 8 }, { code: 'usage' }] });
    expect(outcome.children).toHaveLength(2);
  });

  test('gets failures with code, message and fix, and reaches nothing undeclared', async () => {
    expect(await run('math/fail', {})).toMatchObject({
      result: { code: 'skill_error', message: 'The skill raised Error: it broke' },
    });
    const outcome = await run('text/echo', {});
    expect(outcome).toMatchObject({
      ok: true,
      result: { code: 'capability_denied', fix: expect.stringContaining('full name') as unknown },
      capabilities: { denied: [{ capability: 'skill', asked: 'call text/echo', declared: 'not given' }] },
    });
    expect(outcome.children ?? []).toEqual([]);
  });

  test('does not load if its manifest declares no skills', async () => {
    const bare = copy('bare');
    editManifest(bare, (text) => text.replace('  skills: [math/*]', '  network: []'));
    buildSkill(bare);
    await expect(runtime.load(bare)).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringContaining('skillcell:skill/skills@0.1.0') as unknown,
    });
  });
});
