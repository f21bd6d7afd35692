/**
 * A program that does not catch the failure of a call inside it ends the same way; it cannot claim one that never was.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome, ProgramOptions } from '../../src/index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { dedent } from '../write-skill.ts';
import { writeCommonSkills, writeScriptSkill } from './skills-of-tests.ts';

type Language = 'typescript' | 'python';

const { runtime, folder, close } = openTestRuntime();
beforeAll(() => {
  writeCommonSkills(folder);
  writeScriptSkill(folder, 'net/reach', 'export const execute = () => fetch("http://127.0.0.1:9/");');
  writeScriptSkill(folder, 'math/between', {
    source: 'export const execute = () => skills.net.reach({});',
    capabilities: { skills: ['net/reach'] },
  });
});
afterAll(close);

function run(language: Language, source: string, options: ProgramOptions = {}): Promise<Outcome> {
  const skills = ['math/*', 'net/reach', 'slow/forever'];
  return runtime.program({ language, source: dedent(source), skills }, {}, { ...options, reject: false });
}

const SOURCES: Record<string, Record<Language, string>> = {
  ungiven: {
    typescript: 'return await skills.web.none({})',
    python: 'return skills.web.none()',
  },
  denied: {
    typescript: 'return await skills.net.reach({})',
    python: 'return skills.net.reach()',
  },
  deniedBelow: {
    typescript: 'return await skills.math.between({})',
    python: 'return await skills.math.between()',
  },
  many: {
    typescript: 'return await Promise.all([1, 2, 3].map((n) => skills.math.double({ n })))',
    python: `
      import asyncio
      return await asyncio.gather(*[skills.math.double(n=n) for n in (1, 2, 3)])
    `,
  },
  wrong: {
    typescript: 'return await skills.math.double({ n: "text" })',
    python: 'return skills.math.double(n="text")',
  },
  caught: {
    typescript: 'await skills.web.none({}).catch(() => 0); throw new Error("mine")',
    python: `
      try:
          skills.web.none()
      except SkillCallError:
          pass
      raise ValueError("mine")
    `,
  },
};

describe.each(['typescript', 'python'] as const)('a program in %s that does not catch', (language) => {
  const ends = (name: string, options?: ProgramOptions): Promise<Outcome> =>
    run(language, SOURCES[name]?.[language] ?? '', options);

  test('the refusal of a skill that it was not given is denied', async () => {
    expect(await ends('ungiven')).toMatchObject({
      error: {
        code: 'capability_denied',
        message: 'This call may not call the skill "web/none": it was not given',
        fix: 'Call only what was given, by its full name.',
        detail: { capability: 'skill', asked: 'call web/none', declared: 'not given' },
      },
    });
  });

  test('the denial of a call inside is denied, at every depth, and names the skill', async () => {
    const error = {
      code: 'capability_denied',
      message: expect.stringContaining('127.0.0.1'),
      detail: { capability: 'network', skill: 'net/reach' },
    };
    expect(await ends('denied')).toMatchObject({ error });
    expect(await ends('deniedBelow')).toMatchObject({
      error: { ...error, detail: { capability: 'network', skill: 'math/between' } },
      children: [
        { skill: 'net/reach', code: 'capability_denied' },
        { skill: 'math/between', code: 'capability_denied' },
      ],
    });
  });

  test('a used-up budget exceeds a limit, and names it', async () => {
    expect(await ends('many', { limits: { calls: 2 } })).toMatchObject({
      error: { code: 'resource_exceeded', detail: { limit: 'calls' } },
    });
  });

  test('its own mistake in the parameters, or its own error, fails as before', async () => {
    expect(await ends('wrong')).toMatchObject({ error: { code: 'skill_error' } });
    expect(await ends('caught')).toMatchObject({
      error: { code: 'skill_error', message: expect.stringContaining('mine') },
    });
  });
});

test('a group of failed calls in Python ends as the first of them', async () => {
  const source = `
    import asyncio
    async with asyncio.TaskGroup() as group:
        group.create_task(skills.web.none())
        group.create_task(skills.web.other())
  `;
  expect(await run('python', source)).toMatchObject({ error: { code: 'capability_denied' } });
});

describe('a program cannot claim', () => {
  const forged: Record<string, [Language, string]> = {
    'a denial by an error of the same name': [
      'typescript',
      `const error = new Error('This call may not call the skill "web/none": it was not given');
       error.name = 'SkillCallError'; error.code = 'capability_denied'; throw error;`,
    ],
    'another code for a failure that was': [
      'typescript',
      `const error = await skills.math.fail({}).catch((e) => e);
       Object.defineProperty(error, 'code', { value: 'internal' }); throw error;`,
    ],
    'a denial by the class of Python': [
      'python',
      'raise SkillCallError("capability_denied", "This call may not call other skills", "")',
    ],
    'another code in Python': [
      'python',
      `
        try:
            skills.math.fail()
        except SkillCallError as error:
            error.code = "internal"
            raise
      `,
    ],
  };

  test.each(Object.entries(forged))('%s', async (_, [language, source]) => {
    expect(await run(language, source)).toMatchObject({ error: { code: 'skill_error' } });
  });
});
