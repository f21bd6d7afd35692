/**
 * Programs that run natively in a jail: only if the operator allows it, with the same rights as in Wasm, which are none.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome, Program, ProgramOptions } from '../../src/index.ts';
import { restrict } from '../../src/policy/combine.ts';
import { parsePolicy, type OperatorPolicy } from '../../src/policy/operator.ts';
import { strictest } from '../../src/policy/strictest.ts';
import { wideningKeys } from '../../src/policy/widening.ts';
import { createRuntime } from '../../src/runtime.ts';
import { openCommandLine } from '../cli/command.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { rejectionOf } from '../thrown.ts';
import { dedent } from '../write-skill.ts';
import { writeCommonSkills } from './skills-of-tests.ts';

const policyOf = (text: string): OperatorPolicy => parsePolicy(text, { file: 'policy' });
const ALLOWED = policyOf('native_programs: true');
const { runtime, folder, close } = openTestRuntime({ policy: ALLOWED });
beforeAll(() => writeCommonSkills(folder));
afterAll(close);

const SKILLS = ['math/*', 'text/echo'];

interface Written {
  language: Program['language'];
  calls: string;
  fails: string;
  acts: string;
  keeps: string;
}

const PROGRAMS: readonly Written[] = [
  {
    language: 'typescript',
    calls: `
      const once: { n: number } = await skills.math.double({ n: input.n });
      const many = await Promise.all([1, 2, 3].map((n) => skills['math/double']({ n })));
      const caught = await skills.math.fail({}).catch((e) => [e.name, e.code]);
      const ungiven = await skills.web.none({}).catch((e) => e.code);
      return { once, many, caught, ungiven, bonus: await functions.bonus({ n: 1 }) };`,
    fails: '\n\nthrow new Error("mine")',
    acts: `
      const { readFileSync } = await import('node:fs');
      const { connect } = await import('node:net');
      const tried = [];
      const open = () => new Promise((done, fail) => connect(9, '127.0.0.1').on('connect', done).on('error', fail));
      for (const act of [() => readFileSync('/etc/passwd'), () => readFileSync(input.file), open])
        try { await act(); tried.push('done'); } catch { tried.push('denied'); }
      return [...tried, process.env.NOT_DECLARED ?? null];`,
    keeps: `globalThis.kept = (globalThis.kept ?? 0) + 1; return globalThis.kept;`,
  },
  {
    language: 'python',
    calls: `
      import asyncio
      once = await skills.math.double(n=input["n"])
      many = await asyncio.gather(*[skills["math/double"](n=n) for n in (1, 2, 3)])
      try:
          await skills.math.fail()
      except SkillCallError as error:
          caught = [type(error).__name__, error.code]
      try:
          await skills.web.none()
      except SkillCallError as error:
          ungiven = error.code
      return {"once": once, "many": many, "caught": caught, "ungiven": ungiven, "bonus": await functions.bonus(n=1)}`,
    fails: '\n\nraise ValueError("mine")',
    acts: `
      import os, socket
      tried = []
      for act in (lambda: open("/etc/passwd"), lambda: open(input["file"]), lambda: socket.create_connection(("127.0.0.1", 9))):
          try:
              act()
              tried.append("done")
          except OSError:
              tried.append("denied")
      return [*tried, os.environ.get("NOT_DECLARED")]`,
    keeps: `
      import builtins
      builtins.kept = getattr(builtins, "kept", 0) + 1
      return builtins.kept`,
  },
];

function run(
  { language }: Written,
  source: string,
  { input = {}, ...options }: ProgramOptions & { input?: unknown } = {},
): Promise<Outcome> {
  const functions = { bonus: (params: unknown) => (params as { n: number }).n + 99 };
  const program = { language, source: dedent(source), skills: SKILLS, functions };
  return runtime.program(program, input, { execution: 'subprocess', ...options, reject: false });
}

describe.each(PROGRAMS)('a native program in $language', (written) => {
  const { language } = written;

  test('calls skills and functions as in Wasm, and each call inside has its own cell', async () => {
    const native = await run(written, written.calls, { input: { n: 21 } });
    const inWasm = await run(written, written.calls, { input: { n: 21 }, execution: 'wasm' });
    expect(native).toMatchObject({
      ok: true,
      execution: { mode: 'subprocess', generated: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
      result: {
        once: { n: 42 },
        many: [{ n: 2 }, { n: 4 }, { n: 6 }],
        caught: ['SkillCallError', 'skill_error'],
        ungiven: 'capability_denied',
        bonus: 100,
      },
    });
    expect(inWasm).toMatchObject({
      execution: { mode: 'wasm' },
      ...(native.ok ? { result: native.result } : {}),
    });
    const callsOf = ({ children = [] }: Outcome): string[] =>
      children.map(({ skill, code, depth }) => `${skill} ${code} ${depth}`).toSorted();
    expect(callsOf(native)).toEqual(callsOf(inWasm));
    expect(native.capabilities.denied).toEqual(inWasm.capabilities.denied);
    const receipt = runtime.audit.show(native.call_id)?.receipt;
    expect(receipt).toMatchObject({ origin: 'generated', execution: { mode: 'subprocess' } });
    const inner = runtime.audit.show(native.children?.[0]?.call_id ?? '')?.receipt;
    expect(inner).toMatchObject({ parent: native.call_id, execution: { mode: 'wasm' } });
  });

  test('reports an error of its own at the line of the source', async () => {
    const outcome = await run(written, written.fails);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(JSON.stringify(outcome)).toMatch(/program\.(?:ts:2|py\\*", line 2)/);
  });

  test('has no capability of its own: no files, no network, no variables', async () => {
    const file = join(folder, 'of-the-host.txt');
    writeFileSync(file, 'private');
    const outcome = await run(written, written.acts, { input: { file } });
    expect(outcome).toMatchObject({ ok: true, result: ['denied', 'denied', 'denied', null] });
    expect(outcome.capabilities.denied.map(({ capability }) => capability)).toEqual(
      expect.arrayContaining(['filesystem', 'network']),
    );
  });

  test('leaves nothing behind for the next program', async () => {
    for (let time = 0; time < 2; time++)
      expect(await run(written, written.keeps)).toMatchObject({ ok: true, result: 1 });
  });

  test('is refused unless the operator allows it, with a receipt, and the fix works', async () => {
    await using strict = createRuntime({ home: join(folder, 'strict'), cwd: folder });
    const program = { language, source: 'return 1' };
    const outcome = await strict.program(program, {}, { execution: 'subprocess', reject: false });
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'capability_denied',
        fix: expect.stringContaining('"native_programs: true"') as unknown,
      },
    });
    expect(strict.audit.show(outcome.call_id)?.receipt.code).toBe('capability_denied');
    expect(await strict.program(program)).toMatchObject({ result: 1, execution: { mode: 'wasm' } });
    expect(await run({ ...PROGRAMS[0], language } as Written, 'return 1')).toMatchObject({ result: 1 });
  });
});

describe('the mode of a program', () => {
  const program = { language: 'typescript', source: 'return 1' } as const;

  test('is never one without a jail, and never a container', async () => {
    for (const execution of ['in_process', 'container', 'none'])
      expect(await rejectionOf(runtime.program(program, {}, { execution } as object))).toMatchObject({
        code: 'usage',
      });
  });

  test('still obeys the other rules of the operator', async () => {
    const refusedBy = async (text: string): Promise<string> => {
      const policy = policyOf(`native_programs: true\n${text}`);
      await using strict = createRuntime({ home: join(folder, 'rules'), cwd: folder, policy });
      return (await rejectionOf(strict.program(program, {}, { execution: 'subprocess' }))).code;
    };
    expect(await refusedBy('generated_code: false')).toBe('capability_denied');
    expect(await refusedBy('minimum: { generated: wasm }')).toBe('untrusted');
    expect(await refusedBy('skills: [{ match: "program/*", decision: deny }]')).toBe('untrusted');
  });

  test('is allowed only by a file that a person trusts; every file can take it back', () => {
    const [none, forbidden] = [policyOf(''), policyOf('native_programs: false')];
    expect(wideningKeys(ALLOWED)).toEqual(['native_programs']);
    expect(wideningKeys(ALLOWED, ALLOWED)).toEqual([]);
    expect(restrict(none, ALLOWED).nativePrograms ?? false).toBe(false);
    expect(restrict(ALLOWED, forbidden).nativePrograms).toBe(false);
    expect(restrict(ALLOWED, none).nativePrograms).toBe(true);
    expect(strictest(ALLOWED, none).nativePrograms ?? false).toBe(false);
    expect(strictest(ALLOWED, ALLOWED).nativePrograms).toBe(true);
  });

  test('is an option of the command line', async () => {
    const line = openCommandLine();
    try {
      const file = join(folder, 'program.py');
      const policy = join(folder, 'native.yaml');
      writeFileSync(file, 'import os\nreturn os.path.exists("/proc/self/exe")\n');
      writeFileSync(policy, 'native_programs: true\n');
      const command = ['program', file, '--execution', 'subprocess'];
      expect(await line.run(command)).toMatchObject({ code: 3 });
      expect(await line.run([...command, '--policy', policy])).toMatchObject({ code: 0, stdout: 'true\n' });
    } finally {
      line.close();
    }
  });
});
