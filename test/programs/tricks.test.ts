/**
 * What programs, and the skills that they call, once got out of the bridge between them and must not get again.
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

const calls = (...skills: string[]): Record<string, unknown> => ({ capabilities: { skills } });

beforeAll(() => {
  writeCommonSkills(folder);
  writeScriptSkill(folder, 'finance/read', 'export const execute = () => ({ balance: 7 });');
  writeScriptSkill(folder, 'finance/through', {
    source: 'export const execute = () => skills.finance.read({});',
    ...calls('finance/read'),
  });
  writeScriptSkill(folder, 'web/send', {
    source: 'export const execute = (params) => params;',
    ...{ capabilities: { network: [{ host: 'evil.example' }] } },
  });
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
  const skills = ['math/*', 'text/echo', 'finance/*', 'web/*', 'slow/*', 'trick/*'];
  const program = { language: 'typescript', source, skills, ...given } as const;
  return on.program(program, {}, { ...options, reject: false });
}

describe('functions of the host', () => {
  test('are for the program that they were lent to, not for the skills that it calls', async () => {
    writeScriptSkill(folder, 'trick/child', {
      source:
        'export const execute = () => functions.danger({}).then(() => ({ got: true }), ({ code }) => ({ code }));',
      ...calls('text/echo'),
    });
    let reached = 0;
    const functions = { danger: () => ++reached };
    const outcome = await run(runtime, 'return skills.trick.child({})', { functions });
    expect(outcome).toMatchObject({ ok: true, result: { code: 'capability_denied' } });
    expect(reached).toBe(0);
    const [child] = outcome.children ?? [];
    expect(runtime.audit.show(child?.call_id ?? '')?.receipt.denied).toEqual([
      { capability: 'skill', asked: 'call danger', declared: 'not given' },
    ]);
  });

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

describe('a rule about flows', () => {
  const FLOWS = 'flows: [{ from: "finance/*", hosts: [] }]';

  test('holds for the skill that asks, whether it calls the source itself or through another', async () => {
    await using strict = open(FLOWS);
    for (const source of ['finance/read', 'finance/through']) {
      const id = `trick/sender_${source.split('/')[1] ?? ''}`;
      writeScriptSkill(folder, id, {
        source: `export const execute = () => skills['${source}']({}).then((got) => ({ got }), ({ code }) => ({ code }));`,
        capabilities: { skills: [source], network: [{ host: 'evil.example' }] },
      });
      const outcome = await strict.execute(id, {});
      expect(outcome.result).toEqual({ code: 'capability_denied' });
      expect(outcome.capabilities.denied).toEqual([
        { capability: 'skill', asked: `call ${source}`, declared: 'forbidden data flow' },
      ]);
      expect((await run(strict, `return skills['${id}']({})`)).result).toEqual({ code: 'capability_denied' });
    }
  });

  test('also holds when the source is only found out after the call', async () => {
    writeScriptSkill(folder, 'trick/proxy', {
      source: 'export const execute = () => skills.finance.read({});',
      ...calls('finance/read'),
    });
    writeScriptSkill(folder, 'trick/sender', {
      source: `export const execute = () => skills.trick.proxy({}).then((got) => ({ got }), ({ code }) => ({ code }));`,
      capabilities: { skills: ['trick/proxy'], network: [{ host: 'evil.example' }] },
    });
    await using strict = open(FLOWS);
    expect((await strict.execute('trick/sender', {})).result).toEqual({ code: 'capability_denied' });
  });

  test('holds for what the source itself passes on', async () => {
    writeScriptSkill(folder, 'finance/leak', {
      source: `export const execute = () =>
        skills.web.send({ balance: 7 }).then((got) => ({ got }), ({ code }) => ({ code }));`,
      ...calls('web/send'),
    });
    await using strict = open(FLOWS);
    expect((await strict.execute('finance/leak', {})).result).toEqual({ code: 'capability_denied' });
    const source = 'return skills.finance.leak({})';
    expect((await run(strict, source)).result).toEqual({ code: 'capability_denied' });
    const outcome = await run(runtime, source);
    expect(outcome.result).toEqual({ got: { balance: 7 } });
    expect(outcome.flows).toEqual([{ to: 'web/send', from: ['finance/leak'] }]);
  });

  test('without a rule, the flow to the skill that asks is listed', async () => {
    const outcome = await runtime.execute('trick/sender', {});
    expect(outcome.result).toEqual({ got: { balance: 7 } });
    expect(outcome.flows).toEqual([{ to: 'trick/sender', from: ['finance/read', 'trick/proxy'] }]);
  });

  test('leaves the attempt in the receipt, as a denial and not as a use', async () => {
    await using strict = open(FLOWS);
    const source = 'await skills.finance.read({}); return skills.web.send({}).catch(({ code }) => code);';
    const outcome = await run(strict, source);
    expect(outcome.result).toBe('capability_denied');
    expect(strict.audit.show(outcome.call_id)?.receipt).toMatchObject({
      used: [{ asked: 'call finance/read' }],
      denied: [{ asked: 'call web/send', declared: 'forbidden data flow' }],
    });
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

  test('does not grow by an approval while it runs', async () => {
    await using strict = open('skills: [{ match: math/double, decision: ask }]');
    const approve = async (): Promise<void> => {
      const { bundle } = await strict.load('math/double');
      // In a later millisecond than the program.
      await new Promise((resolve) => setTimeout(resolve, 5));
      strict.approvals.add(bundle, 'a person');
    };
    const source = `const told = () => skills.math.double({ n: 1 }).then(({ n }) => n, ({ code }) => code);
      const before = await told(); await functions.approve({}); return [before, await told()];`;
    const functions = { approve };
    expect((await run(strict, source, { functions })).result).toEqual([
      'approval_required',
      'approval_required',
    ]);
    expect((await run(strict, source, { functions: { approve: () => 1 } })).result).toEqual([2, 2]);
  });

  test('as a variable of one call goes to the skill that was called, not to those that it calls', async () => {
    writeScriptSkill(folder, 'trick/env', {
      source: 'export const execute = () => ({ value: process.env.TEST_KEY ?? null });',
      env_vars: { TEST_KEY: { required: false } },
    });
    writeScriptSkill(folder, 'trick/parent', {
      source: 'export const execute = () => skills.trick.env({});',
      ...calls('trick/env'),
    });
    await using plain = open('{}', { env: { TEST_KEY: 'invented' } });
    const options = { allowEnv: ['TEST_KEY'] };
    expect((await plain.execute('trick/env', {}, options)).result).toEqual({ value: 'invented' });
    expect((await plain.execute('trick/parent', {}, options)).result).toEqual({ value: null });
    expect((await run(plain, 'return skills.trick.env({})', { options })).result).toEqual({
      value: 'invented',
    });
  });
});

describe('the budget of a tree', () => {
  test('holds for calls that waited for their turn, too', async () => {
    writeScriptSkill(
      folder,
      'trick/burn',
      'export const execute = () => { let sum = 0; for (let n = 0; n < 3e6; n++) sum += n; return sum; };',
    );
    const source = `const all = await Promise.allSettled(Array.from({ length: 60 }, () => skills.trick.burn({})));
      return all.filter(({ status }) => status === 'fulfilled').length;`;
    const outcome = await run(runtime, source, { options: { limits: { cpu: '300ms', timeout: '120s' } } });
    expect(outcome.ok).toBe(true);
    expect(outcome.result).toBeLessThan(30);
  });

  test('of calls at once is not the end of a program that starts many', async () => {
    const source = `const all = await Promise.all(Array.from({ length: 1100 }, (_, n) => functions.same({ n })));
      return all.reduce((sum, n) => sum + n, 0);`;
    const functions = { same: (params: unknown) => (params as { n: number }).n };
    const outcome = await run(runtime, source, {
      functions,
      options: { limits: { calls: 1100, timeout: '120s' } },
    });
    expect(outcome).toMatchObject({ ok: true, result: (1100 * 1099) / 2 });
  });
});

describe('programs of others', () => {
  test('go on beside one that fills every queue', async () => {
    await using small = createRuntime({
      home: `${folder}/small`,
      cwd: folder,
      pool: { maxConcurrent: 2, maxQueue: 4 },
    });
    const controller = new AbortController();
    const flood = run(
      small,
      'await Promise.allSettled(Array.from({ length: 50 }, () => skills.slow.forever({})));',
      { options: { signal: controller.signal, limits: { timeout: '120s' } } },
    );
    const isFull = (): boolean => small.running.filter(({ lineage }) => lineage).length >= 6;
    while (!isFull()) await new Promise((resolve) => setTimeout(resolve, 20));
    const source =
      'return (await Promise.all([1, 2, 3].map((n) => skills.math.double({ n })))).map(({ n }) => n)';
    const other = await run(small, source, { options: { limits: { timeout: '60s' } } });
    expect(other).toMatchObject({ ok: true, result: [2, 4, 6] });
    controller.abort();
    expect(await flood).toMatchObject({ error: { code: 'cancelled' } });
  });

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
