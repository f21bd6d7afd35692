/**
 * What a command of an Agent Skills folder cannot be.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import { openTestRuntime } from '../../test-runtime.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';

const { runtime, folder, close } = openTestRuntime({ pool: { size: 0 } });
afterAll(close);

const skill = writeAgentSkill(folder, { files: { 'scripts/a.py': 'print(1)\n' } });

describe('a skill that cannot be run like this', () => {
  test('says so: instructions only', async () => {
    const texts = writeAgentSkill(folder, { files: { 'references/a.md': '# A\n' } });
    const outcome = await runtime.exec(texts, ['python', '-'], { stdin: 'print(1)', reject: false });
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'usage',
        message: expect.stringContaining('instructions only'),
        fix: expect.stringContaining('SKILL.md'),
      },
    });
  });

  test('says so: a system program that the grant does not name', async () => {
    expect(await runtime.exec(skill, ['id'], { reject: false })).toMatchObject({
      ok: false,
      error: { code: 'capability_denied' },
    });
  });

  test('says so: parameters that are no command', async () => {
    const outcome = await runtime.execute(skill, { command: 'python x' }, { reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
  });
});
