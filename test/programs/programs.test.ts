/**
 * Programs in TypeScript that call skills, in Wasm and natively: what they get, what they are refused, and what is left of them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome, Program, ProgramMode, ProgramOptions } from '../../src/index.ts';
import { parsePolicy, type OperatorPolicy } from '../../src/policy/operator.ts';
import { createRuntime } from '../../src/runtime.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { rejectionOf } from '../thrown.ts';
import { writeCommonSkills } from './skills-of-tests.ts';

const policyOf = (rules = ''): OperatorPolicy =>
  parsePolicy(`native_programs: true\n${rules}`, { file: 'policy' });
const { runtime, folder, close } = openTestRuntime({ policy: policyOf() });
beforeAll(() => writeCommonSkills(folder));
afterAll(close);

const MODES: readonly ProgramMode[] = ['wasm', 'subprocess'];
const SKILLS = ['math/*', 'text/echo', 'slow/forever'];

describe.each(MODES)('as %s', (execution) => {
  function run(source: string, given: Partial<Program> = {}, options: ProgramOptions = {}): Promise<Outcome> {
    const program = { language: 'typescript', source, skills: SKILLS, ...given } as const;
    return runtime.program(program, { n: 21 }, { execution, ...options, reject: false });
  }

  async function resultOf(...args: Parameters<typeof run>): Promise<unknown> {
    const outcome = await run(...args);
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
    return outcome.result;
  }

  describe('a program', () => {
    test('gets its input, calls skills by both spellings, and returns a result', async () => {
      const source = `const { n }: { n: number } = await skills.math.double({ n: input.n });
      return [n, (await skills['math/double']({ n })).n];`;
      expect(await resultOf(source)).toEqual([42, 84]);
    });

    test('may be a module with execute, and plain JavaScript', async () => {
      const source = 'export const execute = async ({ n }) => (await skills.math.double({ n })).n;';
      expect(await resultOf(source, { language: 'javascript' })).toBe(42);
    });

    test('calls several skills at once', async () => {
      const source = `const all = await Promise.all([...Array(40).keys()].map((n) => skills.math.double({ n })));
      return all.reduce((sum, { n }) => sum + n, 0);`;
      expect(await resultOf(source)).toBe(1560);
    });

    test('is a skill that origin, receipt and outcome name as generated, with the digest of its source', async () => {
      const outcome = await run('return 1');
      expect(outcome).toMatchObject({
        skill: { name: 'program/typescript' },
        execution: { mode: execution, generated: expect.stringMatching(/^[0-9a-f]{64}$/) },
        warnings: [],
      });
      expect(runtime.audit.show(outcome.call_id)?.receipt).toMatchObject({ origin: 'generated', code: 'ok' });
    });

    test('reports an error of its own at the line of the source', async () => {
      const outcome = await run('\n\nthrow new Error("mine")');
      expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
      expect(JSON.stringify(outcome)).toContain('program.ts:3');
    });

    test('that is not TypeScript fails with the reason, and so does text that closes the function early', async () => {
      expect(await run('return 1 +')).toMatchObject({ error: { code: 'skill_error' } });
      expect(await run('return 1 }; function other() {')).toMatchObject({ ok: true, result: 1 });
    });

    test('leaves nothing behind for the next program', async () => {
      await resultOf(
        'globalThis.kept = 1; Object.prototype.polluted = 1; Array.prototype.map = () => [7]; return 1',
      );
      expect(await resultOf('return [globalThis.kept, ({}).polluted, [1].map((x) => x)]')).toEqual([
        null,
        null,
        [1],
      ]);
    });

    test('has no capability of its own: no files, no network, no variables', async () => {
      // How an error is called depends on the engine; what it ends as, if nobody catches it, does not.
      const reads = `(await import('skillcell:fs')).readFile('/etc/passwd')`;
      for (const [act, capability] of [
        [`fetch('http://127.0.0.1:9/')`, 'network'],
        [reads, 'filesystem'],
      ]) {
        const outcome = await run(`return await ${act}.then(() => 'done', () => 'denied')`);
        expect(outcome).toMatchObject({
          ok: true,
          result: 'denied',
          capabilities: { denied: [{ capability }] },
        });
        expect(await run(`await ${act}`)).toMatchObject({
          error: { code: 'capability_denied', detail: { capability } },
        });
      }
      expect(
        await resultOf(`return Object.keys(process.env).filter((name) => name.includes('DECLARED'))`),
      ).toEqual([]);
    });
  });

  describe('a call inside a program', () => {
    test('that fails is an exception with code, message and fix, and the program goes on', async () => {
      const source = `const caught = [];
      for (const call of [() => skills.math.fail({}), () => skills.math.double({}), () => skills.web.none({})])
        await call().catch((e) => caught.push([e.name, e.code, typeof e.fix, e.message]));
      return caught;`;
      const outcome = await run(source);
      expect(outcome).toMatchObject({
        ok: true,
        result: [
          ['SkillCallError', 'skill_error', 'string', 'The skill raised Error: it broke'],
          [
            'SkillCallError',
            'invalid_params',
            'string',
            expect.stringContaining("must have required property 'n'"),
          ],
          ['SkillCallError', 'capability_denied', 'string', expect.stringContaining('it was not given')],
        ],
        capabilities: { denied: [{ capability: 'skill', asked: 'call web/none', declared: 'not given' }] },
      });
      expect(outcome.children?.map(({ skill, code }) => [skill, code])).toEqual([
        ['math/fail', 'skill_error'],
        ['math/double', 'invalid_params'],
      ]);
    });

    test('says nothing about the folders of the host', async () => {
      const source = `return (await skills.math.fail({}).catch((e) => e.message + e.fix)) + (await skills.text.echo(null).catch((e) => e.message + e.fix))`;
      expect(await resultOf(source)).not.toContain(folder);
    });

    test('has a receipt with its parent, its root and its depth', async () => {
      const outcome = await run('return (await skills.math.double({ n: 1 })).n');
      const [child] = outcome.children ?? [];
      expect(child).toMatchObject({ parent: outcome.call_id, depth: 1, skill: 'math/double', code: 'ok' });
      expect(runtime.audit.show(child?.call_id ?? '')?.receipt).toMatchObject({
        parent: outcome.call_id,
        root: outcome.call_id,
        depth: 1,
        origin: 'project',
        caller: runtime.audit.show(outcome.call_id)?.receipt.caller,
      });
      expect(runtime.audit.verify()).toMatchObject({ ok: true });
    });

    test('that nobody waits for is cancelled with the program, and receipted', async () => {
      const outcome = await run('skills.slow.forever({}); await skills.math.double({ n: 1 }); return 5');
      expect(outcome).toMatchObject({ ok: true, result: 5 });
      expect(outcome.children).toContainEqual(
        expect.objectContaining({ skill: 'slow/forever', code: 'cancelled' }),
      );
    });

    test('ends with the deadline of the program', async () => {
      const outcome = await run('await skills.slow.forever({})', {}, { limits: { timeout: '8s' } });
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'resource_exceeded', detail: { limit: 'timeout' } },
      });
      expect(outcome.children).toMatchObject([{ code: 'cancelled' }]);
      expect(runtime.running).toEqual([]);
    });

    test('ends when the caller cancels the program', async () => {
      const controller = new AbortController();
      const onEvent: ProgramOptions['onEvent'] = ({ type, call }) => {
        if (type === 'started' && call.lineage) controller.abort();
      };
      const outcome = await run('await skills.slow.forever({})', {}, { signal: controller.signal, onEvent });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
      expect(outcome.children).toMatchObject([{ code: 'cancelled' }]);
    });

    test('is refused if the operator policy denies the skill, whatever the program was given', async () => {
      const policy = policyOf('skills: [{ match: math/double, decision: deny }]');
      await using strict = createRuntime({ home: `${folder}/strict_${execution}`, cwd: folder, policy });
      const source = 'return await skills.math.double({ n: 1 }).catch((e) => e.code)';
      const { result } = await strict.program(
        { language: 'typescript', source, skills: SKILLS },
        {},
        { execution },
      );
      expect(result).toBe('untrusted');
    });

    test('that needs an approval fails at once, and asks nobody', async () => {
      const policy = policyOf('skills: [{ match: math/double, decision: ask }]');
      let asked = 0;
      const askPerson = (): Promise<boolean> => Promise.resolve(asked++ === 0);
      await using strict = createRuntime({
        home: `${folder}/asking_${execution}`,
        cwd: folder,
        policy,
        askPerson,
      });
      const source = 'return await skills.math.double({ n: 1 }).catch((e) => [e.code, e.message])';
      const { result } = await strict.program(
        { language: 'typescript', source, skills: SKILLS },
        {},
        { execution },
      );
      expect(result).toEqual(['approval_required', expect.stringContaining('"math/double"')]);
      expect(asked).toBe(0);
    });
  });

  describe('limits of a program', () => {
    test('count the calls inside', async () => {
      const source = `let made = 0;
      try { for (;;) { await skills.math.double({ n: 1 }); made++; } } catch (e) { return [made, e.code, e.message]; }`;
      expect(await resultOf(source, {}, { limits: { calls: 3 } })).toEqual([
        3,
        'resource_exceeded',
        expect.stringContaining('3 calls'),
      ]);
    });

    test('bound the source, the names of skills, and the language', async () => {
      const failed = async (given: object): Promise<string> =>
        (
          await rejectionOf(
            runtime.program({ language: 'typescript', source: '', ...given }, {}, { execution }),
          )
        ).code;
      expect(await failed({ source: 'x'.repeat(300_000) })).toBe('invalid_params');
      expect(await failed({ skills: ['nothing/*'] })).toBe('usage');
      expect(await failed({ language: 'cobol' })).toBe('usage');
      expect(await failed({ functions: { 'a/b': () => 1 } })).toBe('usage');
    });

    test('are those of the operator, too: generated code can be switched off', async () => {
      const policy = policyOf('generated_code: false');
      await using strict = createRuntime({ home: `${folder}/off_${execution}`, cwd: folder, policy });
      const outcome = await strict.program(
        { language: 'typescript', source: 'return 1' },
        {},
        { execution, reject: false },
      );
      expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
      expect(strict.audit.show(outcome.call_id)?.receipt.code).toBe('capability_denied');
    });

    test('hold for programs that no rule can approve', async () => {
      const policy = policyOf('skills: [{ match: "*", decision: ask }]');
      await using strict = createRuntime({
        home: `${folder}/ask_${execution}`,
        cwd: folder,
        policy,
        askPerson: async () => true,
      });
      const error = await rejectionOf(
        strict.program({ language: 'typescript', source: 'return 1' }, {}, { execution }),
      );
      expect(error).toMatchObject({ code: 'untrusted', fix: expect.stringContaining('program/*') });
    });
  });

  describe('functions of the host', () => {
    test('appear beside skills, with their schema checked', async () => {
      const add = {
        parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
        execute: (params: unknown) => (params as { a: number }).a + 1,
      };
      const source = `return [await functions.add({ a: 1 }), await functions.add({ a: 'x' }).catch((e) => e.code),
      await functions.add2({}).catch((e) => e.code), await functions.broken({}).catch((e) => e.message)]`;
      const broken = (): never => {
        throw new Error('no database');
      };
      expect(await resultOf(source, { functions: { add, broken } })).toEqual([
        2,
        'invalid_params',
        'capability_denied',
        'The function "broken" failed: no database',
      ]);
    });

    test('are told when the call ends, and cannot keep it from ending', async () => {
      let aborted = false;
      const hang = {
        execute: (_: unknown, { signal }: { signal: AbortSignal }) => {
          signal.addEventListener('abort', () => (aborted = true));
          return new Promise(() => undefined);
        },
      };
      // A call that is made in the same moment as the reply comes after the end, and never begins.
      const source = 'functions.hang({}); await functions.next({}); return 1';
      const outcome = await run(source, { functions: { hang, next: () => 1 } });
      expect(outcome).toMatchObject({ ok: true, result: 1 });
      expect(aborted).toBe(true);
    });
  });
});
