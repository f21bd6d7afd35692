/**
 * The tricks of `tricks.test.ts` that depend on the cell: programs and the skills that they call, in Wasm and natively in a
 * jail, in both languages.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome, Program, ProgramMode, ProgramOptions, RuntimeOptions } from '../../src/index.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { createRuntime, type Runtime } from '../../src/runtime.ts';
import { openFolder, removeFolder, dedent } from '../write-skill.ts';
import { writeBody, type Bodies, type Language } from './calling-skills.ts';

type Ended = Outcome & { result?: unknown };

interface Given extends Partial<Program> {
  options?: ProgramOptions;
}

interface Mode {
  language: Language;
  execution: ProgramMode;
}

const MODES: readonly Mode[] = [
  { language: 'typescript', execution: 'wasm' },
  { language: 'typescript', execution: 'subprocess' },
  { language: 'python', execution: 'wasm' },
  { language: 'python', execution: 'subprocess' },
];
const FLOWS = 'flows: [{ from: "finance/*", hosts: [] }]';
const SENDS = { network: [{ host: 'evil.example' }] };

const both = (typescript: string, python = typescript): Bodies => ({ typescript, python });

/** Both languages spell the call in the same way. */
const returning = (call: string): Bodies => both(`return await ${call}`);

const catching = (call: string): Bodies =>
  both(
    `return ${call}.then((got) => ({ got }), ({ code }) => ({ code }));`,
    `
    try:
        return {"got": await ${call}}
    except SkillCallError as error:
        return {"code": error.code}`,
  );

/** How many of so many calls at once come to a result. */
const counting = (count: number, call: string): Bodies =>
  both(
    `const all = await Promise.allSettled(Array.from({ length: ${count} }, () => ${call}));
    return all.filter(({ status }) => status === 'fulfilled').length;`,
    `
    import asyncio
    all = await asyncio.gather(*[${call} for _ in range(${count})], return_exceptions=True)
    return sum(not isinstance(one, Exception) for one in all)`,
  );

describe.each(MODES)('in $language, as $execution', ({ language, execution }) => {
  const folder = openFolder();
  const runtimes: Runtime[] = [];
  let runtime: Runtime;

  const write = (id: string, bodies: Bodies, manifest: object = {}): string =>
    writeBody(folder, id, { language, execution, ...bodies, ...manifest });
  const calling = (...skills: string[]): object => ({ capabilities: { skills } });

  function open(rules = '', options: RuntimeOptions = {}): Runtime {
    const policy = parsePolicy(`native_programs: true\n${rules}`, { file: 'policy' });
    const home = `${folder}/home_${runtimes.length}`;
    const opened = createRuntime({ home, cwd: folder, pool: { size: 0 }, policy, ...options });
    runtimes.push(opened);
    return opened;
  }

  async function run(on: Runtime, bodies: Bodies, { options, ...given }: Given = {}): Promise<Ended> {
    const skills = ['math/*', 'text/echo', 'finance/*', 'web/*', 'slow/*', 'trick/*'];
    const program = { language, source: dedent(bodies[language]), skills, ...given } as const;
    const outcome = await on.program(program, {}, { execution, ...options, reject: false });
    expect(outcome.execution).toMatchObject({ mode: execution });
    return outcome;
  }

  beforeAll(() => {
    runtime = open();
    write('math/double', both('return { n: params.n * 2 };', 'return {"n": params["n"] * 2}'));
    write('text/echo', both('return params;', 'return params'));
    write('finance/read', both('return { balance: 7 };', 'return {"balance": 7}'));
    write('finance/through', returning('skills.finance.read({})'), calling('finance/read'));
    write('web/send', both('return params;', 'return params'), { capabilities: SENDS });
    write(
      'slow/forever',
      both('await new Promise((r) => setTimeout(r, 1e6));', '\nimport time\ntime.sleep(1000)'),
    );
    write('trick/sender', catching('skills["trick/proxy"]({})'), {
      capabilities: { skills: ['trick/proxy'], ...SENDS },
    });
    write('trick/proxy', returning('skills.finance.read({})'), calling('finance/read'));
  });
  afterAll(async () => {
    for (const one of runtimes) await one.close();
    removeFolder(folder);
  });

  test('functions of the host are for the program that they were lent to, not for the skills that it calls', async () => {
    write('trick/child', catching('functions.danger({})'), calling('text/echo'));
    let reached = 0;
    const functions = { danger: () => ++reached };
    const outcome = await run(runtime, returning('skills.trick.child({})'), { functions });
    expect(outcome).toMatchObject({ ok: true, result: { code: 'capability_denied' } });
    expect(reached).toBe(0);
    const [child] = outcome.children ?? [];
    expect(runtime.audit.show(child?.call_id ?? '')?.receipt.denied).toEqual([
      { capability: 'skill', asked: 'call danger', declared: 'not given' },
    ]);
    expect((await run(runtime, catching('functions.danger({})'), { functions })).result).toEqual({ got: 1 });
  });

  test('a rule about flows holds for the skill that asks, whether it calls the source itself or through another', async () => {
    const strict = open(FLOWS);
    for (const source of ['finance/read', 'finance/through']) {
      const id = `trick/sender_${source.split('/')[1] ?? ''}`;
      write(id, catching(`skills["${source}"]({})`), { capabilities: { skills: [source], ...SENDS } });
      const outcome = await strict.execute(id, {});
      expect(outcome.result).toEqual({ code: 'capability_denied' });
      expect(outcome.capabilities.denied).toEqual([
        { capability: 'skill', asked: `call ${source}`, declared: 'forbidden data flow' },
      ]);
      const inProgram = await run(strict, returning(`skills["${id}"]({})`));
      expect(inProgram.result).toEqual({ code: 'capability_denied' });
    }
  });

  test('a rule about flows also holds when the source is only found out after the call', async () => {
    const strict = open(FLOWS);
    expect((await strict.execute('trick/sender', {})).result).toEqual({ code: 'capability_denied' });
    const outcome = await runtime.execute('trick/sender', {});
    expect(outcome.result).toEqual({ got: { balance: 7 } });
    expect(outcome.flows).toEqual([{ to: 'trick/sender', from: ['finance/read', 'trick/proxy'] }]);
  });

  test('a rule about flows holds for what the source itself passes on', async () => {
    write('finance/leak', catching('skills.web.send({"balance": 7})'), calling('web/send'));
    const strict = open(FLOWS);
    expect((await strict.execute('finance/leak', {})).result).toEqual({ code: 'capability_denied' });
    const leaks = returning('skills.finance.leak({})');
    expect((await run(strict, leaks)).result).toEqual({ code: 'capability_denied' });
    const outcome = await run(runtime, leaks);
    expect(outcome.result).toEqual({ got: { balance: 7 } });
    expect(outcome.flows).toEqual([{ to: 'web/send', from: ['finance/leak'] }]);
  });

  test('a forbidden flow is a denial in the receipt and not a use', async () => {
    const strict = open(FLOWS);
    const { typescript, python } = catching('skills.web.send({})');
    const bodies = both(
      `await skills.finance.read({});\n${typescript}`,
      `\n    await skills.finance.read({})${python}`,
    );
    const outcome = await run(strict, bodies);
    expect(outcome.result).toEqual({ code: 'capability_denied' });
    expect(strict.audit.show(outcome.call_id)?.receipt).toMatchObject({
      used: [{ asked: 'call finance/read' }],
      denied: [{ asked: 'call web/send', declared: 'forbidden data flow' }],
    });
  });

  test('what a program was given does not grow by an approval while it runs', async () => {
    const strict = open('skills: [{ match: math/double, decision: ask }]');
    const approve = async (): Promise<void> => {
      const { bundle } = await strict.load('math/double');
      // In a later millisecond than the program.
      await new Promise((resolve) => setTimeout(resolve, 5));
      strict.approvals.add(bundle, 'a person');
    };
    const told = both(
      `const told = () => skills.math.double({ n: 1 }).then(({ n }) => n, ({ code }) => code);
      const before = await told(); await functions.approve({}); return [before, await told()];`,
      `
      async def told():
          try:
              return (await skills.math.double({"n": 1}))["n"]
          except SkillCallError as error:
              return error.code
      before = await told()
      await functions.approve({})
      return [before, await told()]`,
    );
    const refused = 'approval_required';
    expect((await run(strict, told, { functions: { approve } })).result).toEqual([refused, refused]);
    expect((await run(strict, told, { functions: { approve: () => 1 } })).result).toEqual([2, 2]);
  });

  test('a variable of one call goes to the skill that was called, not to those that it calls', async () => {
    const reads = both(
      'return { value: process.env.TEST_KEY ?? null };',
      '\nimport os\nreturn {"value": os.environ.get("TEST_KEY")}',
    );
    write('trick/env', reads, { env_vars: { TEST_KEY: { required: false } } });
    write('trick/parent', returning('skills.trick.env({})'), calling('trick/env'));
    const plain = open('', { env: { TEST_KEY: 'invented' } });
    const options = { allowEnv: ['TEST_KEY'] };
    expect((await plain.execute('trick/env', {}, options)).result).toEqual({ value: 'invented' });
    expect((await plain.execute('trick/parent', {}, options)).result).toEqual({ value: null });
    const inProgram = await run(plain, returning('skills.trick.env({})'), { options });
    expect(inProgram.result).toEqual({ value: 'invented' });
    expect((await run(plain, reads, { options })).result).toEqual({ value: null });
  });

  test('the CPU budget of a tree holds for calls that waited for their turn, too', async () => {
    write(
      'trick/burn',
      both(
        'let sum = 0; for (let n = 0; n < 3e6; n++) sum += n; return { sum };',
        'return {"sum": sum(range(3_000_000))}',
      ),
    );
    // The limit is also that of the program, and to start Python in Wasm takes most of a second.
    const cpu = language === 'python' && execution === 'wasm' ? '3s' : '300ms';
    const limits = { cpu, timeout: '120s' };
    const outcome = await run(runtime, counting(60, 'skills.trick.burn({})'), { options: { limits } });
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome.result).toBeLessThan(30);
  });

  test('the budget of calls holds for calls at once, and for those of the skills below', async () => {
    const limits = { calls: 5, timeout: '120s' };
    const outcome = await run(runtime, counting(20, 'skills.text.echo({})'), { options: { limits } });
    expect(outcome).toMatchObject({ ok: true, result: 5 });
    expect(outcome.children).toHaveLength(5);
    const below = catching('skills.finance.through({})');
    for (const shared of [{ calls: 1 }, { depth: 1 }]) {
      const refused = await run(runtime, below, { options: { limits: shared } });
      expect(refused).toMatchObject({ ok: true, result: { code: 'resource_exceeded' } });
      expect(refused.children?.map(({ skill }) => skill)).toEqual(['finance/through']);
    }
  });

  test('a program may start more calls at once than the host takes', async () => {
    const outcome = await run(runtime, counting(1100, 'functions.same({})'), {
      functions: { same: () => 1 },
      options: { limits: { calls: 1100, timeout: '120s' } },
    });
    expect(outcome).toMatchObject({ ok: true, result: 1100 });
  });

  test('a call that is killed leaves none of its calls running', async () => {
    const begun = both(
      'skills.slow.forever({}).catch(() => 0); await skills.math.double({ n: 1 });',
      '\n    import os\n    skills.slow.forever()\n    await skills.math.double({"n": 1})',
    );
    const ends = [both('for (;;);', '\n    while True:\n        pass')];
    if (execution === 'subprocess') ends.push(both('process.exit(3);', '\n    os._exit(3)'));
    for (const [index, end] of ends.entries()) {
      const bodies = both(begun.typescript + end.typescript, begun.python + end.python);
      write(`trick/killed_${index}`, bodies, {
        capabilities: { skills: ['math/*', 'slow/*'] },
        limits: { cpu: '2s' },
      });
      const inSkill = await runtime.execute(`trick/killed_${index}`, {}, { reject: false });
      const inProgram = await run(runtime, bodies, { options: { limits: { cpu: '2s' } } });
      for (const outcome of [inSkill, inProgram]) {
        expect(outcome).toMatchObject({ ok: false });
        expect(outcome.children?.map(({ skill, code }) => `${skill} ${code}`).toSorted()).toEqual([
          'math/double ok',
          'slow/forever cancelled',
        ]);
      }
      expect(runtime.running).toEqual([]);
    }
  });

  test('a program goes on beside another that fills every queue with calls that never end', async () => {
    const small = open('', { pool: { size: 0, maxConcurrent: 2, maxQueue: 4 } });
    const controller = new AbortController();
    const flood = run(small, counting(50, 'skills.slow.forever({})'), {
      options: { signal: controller.signal, limits: { timeout: '120s' } },
    });
    const isFull = (): boolean => small.running.filter(({ lineage }) => lineage).length >= 6;
    while (!isFull()) await new Promise((resolve) => setTimeout(resolve, 20));
    const other = await run(small, counting(3, 'skills.math.double({"n": 1})'), {
      options: { limits: { timeout: '60s' } },
    });
    expect(other).toMatchObject({ ok: true, result: 3 });
    controller.abort();
    expect(await flood).toMatchObject({ error: { code: 'cancelled' } });
    expect(small.running).toEqual([]);
  });
});
