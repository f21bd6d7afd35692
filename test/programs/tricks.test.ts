/**
 * What programs, and the skills that they call, once got out of the bridge between them and must not get again, whatever the
 * mode; the rest is in `tricks-in-modes.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome, Program, ProgramOptions, RuntimeOptions } from '../../src/index.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { createRuntime, type Runtime } from '../../src/runtime.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { rejectionOf } from '../thrown.ts';
import { writeCommonSkills, writeScriptSkill } from './skills-of-tests.ts';

const { runtime, folder, close } = openTestRuntime();
afterAll(close);

beforeAll(() => {
  writeCommonSkills(folder);
  writeScriptSkill(folder, 'trick/nothing', 'export const execute = () => null;');
});

type Ended = Outcome & { result?: unknown };

let opened = 0;
function open(policy: string, options: RuntimeOptions = {}): Runtime {
  const home = `${folder}/home_${++opened}`;
  return createRuntime({ home, cwd: folder, policy: parsePolicy(policy, { file: 'policy' }), ...options });
}

interface Given extends Partial<Program> {
  options?: ProgramOptions;
}

function run(on: Runtime, source: string, { options, ...given }: Given = {}): Promise<Ended> {
  const skills = ['math/*', 'trick/*'];
  const program = { language: 'typescript', source, skills, ...given } as const;
  return on.program(program, {}, { ...options, reject: false });
}

describe('functions of the host', () => {
  test('can throw anything, and the program learns no path of the host from it', async () => {
    const functions = {
      bare: (): never => {
        throw Object.create(null) as Error;
      },
      path: (): never => {
        throw new Error(`ENOENT: no such file, open '${folder}/home/secret.txt'`);
      },
      long: (): never => {
        throw new Error('x'.repeat(1_000_000));
      },
    };
    const source = `const told = (f) => f({}).catch(({ code, message }) => [code, message]);
      return [await told(functions.bare), await told(functions.path), (await told(functions.long))[1].length];`;
    const outcome = await run(runtime, source, { functions });
    expect(outcome).toMatchObject({
      ok: true,
      result: [
        ['skill_error', 'The function "bare" failed: an error that has no text'],
        ['skill_error', expect.anything()],
        expect.any(Number),
      ],
    });
    const [, [, message], length] = outcome.result as [unknown, [string, string], number];
    expect(message).not.toContain(folder);
    expect(length).toBeLessThan(3000);
  });
});

describe('what a program was given', () => {
  test('as bundled skills covers no skill of the project, whatever its name', async () => {
    writeScriptSkill(folder, 'text/evil', 'export const execute = () => 1;');
    const source = 'return skills.text.evil({}).catch(({ code }) => code)';
    expect((await run(runtime, source, { skills: ['bundled:text/*'] })).result).toBe('capability_denied');
    expect((await run(runtime, source, { skills: ['text/*'] })).result).toBe(1);
    const words = 'return (await skills.text.word_stats({ text: "a b" })).words';
    expect((await run(runtime, words, { skills: ['bundled:text/*'] })).result).toBe(2);
  });

  test('as a rule for programs admits no skill that takes a name of programs', async () => {
    writeScriptSkill(folder, 'program/evil', 'export const execute = () => 1;');
    await using strict = open(
      'skills: [{ match: program/*, decision: allow }, { match: "*", decision: ask }]',
    );
    expect((await rejectionOf(strict.execute('program/evil', {}))).code).toBe('untrusted');
    expect((await run(strict, 'return 1')).result).toBe(1);
  });
});

describe('programs of others', () => {
  test('are compiled after one whose source the compiler cannot take', async () => {
    const nested = `return ${'('.repeat(100_000)}1${')'.repeat(100_000)}`;
    expect(await run(runtime, nested)).toMatchObject({
      error: { code: 'skill_error', message: expect.stringContaining('nested too deeply') },
    });
    expect((await run(runtime, 'return 2 as number')).result).toBe(2);
  });
});

describe('a source', () => {
  test('with a line that looks like an export is still a function', async () => {
    const source = 'const text = `\nexport const x = 1`;\nreturn text.length;';
    expect((await run(runtime, source)).result).toBe(19);
    expect((await run(runtime, 'export const execute = () => 7;')).result).toBe(7);
    expect(await run(runtime, 'export const execute = ;')).toMatchObject({
      error: { message: expect.stringContaining('SyntaxError') },
    });
  });

  test('is given skills by names and patterns only', async () => {
    for (const skills of [['./skills'], ['text'], ['text/'], ['/etc'], [5], '*', ['a/b/c']]) {
      const program = { language: 'javascript', source: 'return 1', skills } as Program;
      expect((await rejectionOf(runtime.program(program))).code).toBe('usage');
    }
  });

  test('that takes too long is told about the limit that came with it', async () => {
    const outcome = await run(runtime, 'for (;;);', { options: { limits: { timeout: '300ms' } } });
    expect(outcome).toMatchObject({
      error: { fix: expect.stringContaining('Raise the limit "timeout" of the program above 300ms.') },
    });
    expect(JSON.stringify(outcome)).not.toContain('manifest.yaml');
  });
});

describe('evidence', () => {
  test('is a receipt for a call of a skill that cannot be loaded', async () => {
    writeScriptSkill(folder, 'trick/broken', {
      source: 'export const execute = () => 1;',
      parameters: 'none',
    });
    const outcome = await run(runtime, 'return skills.trick.broken({}).catch(({ code }) => code)');
    expect(outcome.result).toBe('manifest_invalid');
    const [child] = outcome.children ?? [];
    expect(child).toMatchObject({ code: 'manifest_invalid', depth: 1, parent: outcome.call_id });
    expect(runtime.audit.show(child?.call_id ?? '')?.receipt).toMatchObject({
      code: 'manifest_invalid',
      root: outcome.call_id,
    });
  });

  test('is no use of a skill whose call the budget refused', async () => {
    const source = 'return skills.math.double({ n: 1 }).catch(({ code }) => code)';
    const outcome = await run(runtime, source, { options: { limits: { calls: 0 } } });
    expect(outcome).toMatchObject({ result: 'resource_exceeded', capabilities: { used: [], denied: [] } });
  });

  test('is a digest that only one source has', async () => {
    expect(
      (await rejectionOf(runtime.program({ language: 'javascript', source: 'return "\ud800"' }))).code,
    ).toBe('invalid_params');
  });
});
