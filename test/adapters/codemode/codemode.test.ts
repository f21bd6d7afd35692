/**
 * `skillcell/codemode` with the real packages: their tools, their prompts, their ways to run code, and our cells.
 */
import './cloudflare-hook.ts';
import { experimental_createCodeModeTool } from '@ai-sdk/code-mode';
import { createBrowserCodeTool } from '@cloudflare/codemode/browser';
import { createCodeMode, createTool, sanitizeToolId } from '@mastra/core/tools';
import { jsonSchema, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdkCodeMode, cloudflareExecutor, mastraTransport } from '../../../src/api/codemode.ts';
import type { Outcome } from '../../../src/index.ts';
import { openTestRuntime } from '../../cell/test-runtime.ts';
import { writeCommonSkills } from '../../programs/skills-of-tests.ts';

// Mastra reports its use to a server on the internet otherwise.
process.env['MASTRA_TELEMETRY_DISABLED'] = '1';

const { runtime, folder, close } = openTestRuntime();
beforeAll(() => writeCommonSkills(folder));
afterAll(close);

let outcome: Outcome | undefined;
const options = { skills: ['math/*'], onOutcome: (ended: Outcome) => void (outcome = ended) };

/** Looks for what a host would have and a cell does not. */
const LOOKS_AROUND =
  'typeof require + typeof process?.binding + typeof process?.pid + Object.keys(process.env).length';

describe('the executor for @cloudflare/codemode', () => {
  const twice = {
    description: 'Doubles a number.',
    inputSchema: { type: 'object' as const, properties: { n: { type: 'number' as const } }, required: ['n'] },
    execute: async ({ n }: Record<string, unknown>) => {
      if (typeof n !== 'number') throw new Error('n is no number');
      return { n: n * 2 };
    },
  };

  test('runs the code of the tool of the package, with logs', async () => {
    const created = createBrowserCodeTool({
      tools: { twice },
      executor: cloudflareExecutor(runtime, options),
    });
    expect(created.description).toContain('twice');
    const code = `async () => {
      const all = await Promise.all([1, 2, 3].map((n) => codemode.twice({ n })));
      console.log('made', all.length);
      console.warn('careful');
      return all.reduce((sum, { n }) => sum + n, 0) + (await skills.math.double({ n: 4 })).n;
    }`;
    expect(await created.execute({ code })).toEqual({ result: 20, logs: ['made 3', '[warn] careful'] });
    expect(outcome).toMatchObject({ ok: true, children: [{ skill: 'math/double', code: 'ok' }] });
    expect(runtime.audit.show(outcome?.call_id ?? '')?.receipt).toMatchObject({ origin: 'generated' });
    await expect(created.execute({ code: 'async () => { throw new Error("mine") }' })).rejects.toThrow(
      'Code execution failed: mine',
    );
  });

  test('runs what the AI SDK tool of the package makes of the words of a model', async () => {
    const { createCodeTool } = await import('@cloudflare/codemode/ai');
    const inputSchema = z.object({ n: z.number() });
    const tools = { double: tool({ inputSchema, execute: async ({ n }) => n * 2 }) };
    const created = createCodeTool({ tools, executor: cloudflareExecutor(runtime) });
    const run = created.execute as (input: { code: string }, call: object) => Promise<unknown>;
    // Not a function: the package makes one of it.
    expect(await run({ code: '```js\nreturn await codemode.double({ n: 4 })\n```' }, {})).toMatchObject({
      result: 8,
    });
  });

  test('keeps namespaces, extra source, errors of tools, and everything that is not JSON apart', async () => {
    const executor = cloudflareExecutor(runtime);
    const fns = { get: async (...args: unknown[]) => args, fail: () => Promise.reject(new Error('no disk')) };
    const providers = [
      { name: 'one', fns },
      { name: 'two', fns: { get: async () => 'two' }, prelude: 'two.local = (f) => f(5);' },
    ];
    const code = `async () => [await one.get(1, 'a'), await two.get(), two.local((x) => x + 1),
      await one.fail().catch((e) => e.message), await one.none().catch((e) => e.message), ${LOOKS_AROUND}]`;
    expect((await executor.execute(code, providers)).result).toEqual([
      [1, 'a'],
      'two',
      6,
      'no disk',
      'Tool "one.none" not found',
      'undefinedundefinedundefined0',
    ]);
    expect(await executor.execute('async () => await codemode.get(3)', fns)).toMatchObject({ result: [3] });
  });

  test('never throws, and refuses what it cannot do', async () => {
    const executor = cloudflareExecutor(runtime, { limits: { timeout: '2s', calls: 1 } });
    const errorOf = async (
      code: string,
      ...more: [unknown?, { connectors: unknown[] }?]
    ): Promise<unknown> => {
      const [providers = [{ name: 'codemode', fns: { get: async () => 1 } }], rest] = more;
      return (await executor.execute(code, providers as [], rest)).error;
    };
    expect(await errorOf('async () => {{{')).toMatch(/./);
    expect(await errorOf('async () => { for (;;); }')).toContain('2s');
    expect(await errorOf('async () => { await codemode.get(); await codemode.get(); }')).toContain('1 calls');
    expect(await errorOf('async () => 1', [{ name: 'a-b', fns: {} }])).toContain('"a-b" is not valid');
    expect(
      await errorOf('async () => 1', [
        { name: 'a', fns: {} },
        { name: 'a', fns: {} },
      ]),
    ).toContain('Duplicate');
    expect(await errorOf('async () => 1', [], { connectors: [{}] })).toContain('Connectors');
  });
});

describe('the code mode of the AI SDK', () => {
  const tools = {
    double: tool({
      description: 'Doubles a number.',
      inputSchema: z.object({ n: z.number(), by: z.number().default(2) }),
      execute: async ({ n, by }, { toolCallId }) => ({ n: n * by, toolCallId }),
    }),
    'odd-name': tool({
      inputSchema: jsonSchema({ type: 'object' }),
      async *execute() {
        yield 'first';
        yield 'last';
      },
    }),
  };
  const call = { toolCallId: 'outer', messages: [], context: {} };

  function run(js: string, given: object = {}): Promise<unknown> {
    const create = aiSdkCodeMode(runtime, experimental_createCodeModeTool, options);
    const created = create(tools, given);
    return (created.execute as (input: { js: string }, more: object) => Promise<unknown>)({ js }, call);
  }

  test('has the description of the package, and runs programs in cells', async () => {
    const create = aiSdkCodeMode(runtime, experimental_createCodeModeTool);
    expect(create(tools).description).toBe(experimental_createCodeModeTool(tools).description);
    const js = `const { n, toolCallId } = await tools.double({ n: 21 } satisfies { n: number });
      return [n, toolCallId, await tools['odd-name']({}), (await skills.math.double({ n: 1 })).n, ${LOOKS_AROUND}];`;
    expect(await run(js)).toEqual([42, 'outer:tool-0', 'last', 2, 'undefinedundefinedundefined0']);
    expect(outcome).toMatchObject({ execution: { mode: 'wasm' } });
  });

  test('passes errors of tools and schemas into the program, and those of the program out', async () => {
    expect(await run('return await tools.double({ n: "x" }).catch((e) => e.message)')).toMatch(
      /^Invalid input for tool "double"/,
    );
    expect(await run('return await tools.none({}).catch((e) => e.message)')).toBe('Tool "none" not found');
    await expect(run('throw new TypeError("mine")')).rejects.toMatchObject({
      name: 'TypeError',
      message: 'mine',
    });
  });

  test('keeps the limits of the package, or refuses them', async () => {
    const limited = (executionPolicy: object): object => ({ executionPolicy });
    await expect(run('for (;;);', limited({ timeoutMs: 1500 }))).rejects.toThrow('1500ms');
    await expect(run('return 1', limited({ maxSourceBytes: 4 }))).rejects.toThrow('larger than 4 bytes');
    const twice = 'await tools.double({ n: 1 }); await tools.double({ n: 1 })';
    await expect(run(twice, limited({ maxBridgeRequests: 1 }))).rejects.toThrow('1 calls');
    const big = 'return await tools.double({ n: 1, x: "y".repeat(99) }).catch((e) => e.message)';
    expect(await run(big, limited({ maxToolInputBytes: 20 }))).toContain('the maximum is 20');
    expect(() => run('return 1', limited({ maxStackSizeBytes: 1 }))).toThrow('not enforced');
    // As a newer version of the package may have it.
    expect(() => run('return 1', limited({ maxOfTomorrow: 1 }))).toThrow('not enforced');
    const asking = { ...tools, double: { ...tools.double, needsApproval: true } };
    const create = aiSdkCodeMode(runtime, experimental_createCodeModeTool);
    expect(() => create(asking)).toThrow('needs an approval');
  });
});

describe('the transport for the code mode of Mastra', () => {
  const double = createTool({
    id: 'double-it',
    description: 'Doubles a number.',
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }) => ({ n: n * 2 }),
  });

  async function run(code: string, timeout?: number): Promise<unknown> {
    const config = { tools: { double }, ...(timeout === undefined ? {} : { timeout }) };
    const { tool: created } = createCodeMode(config, mastraTransport(runtime, options));
    const observe = { span: (_: string, work: () => unknown) => work(), log: () => undefined };
    return created.execute?.({ code }, { observe } as never);
  }

  test('runs programs with the functions that the package declares, and skills', async () => {
    const { instructions } = createCodeMode({ tools: { double } }, mastraTransport(runtime));
    expect(instructions).toContain(`external_${sanitizeToolId('double-it')}(`);
    const code = `const all: { n: number }[] = await Promise.all([1, 2].map((n) => external_double_it({ n })));
      console.log('made', all.length);
      return [all.map(({ n }) => n), (await skills.math.double({ n: 5 })).n, ${LOOKS_AROUND}];`;
    expect(await run(code)).toEqual({
      success: true,
      result: [[2, 4], 10, 'undefinedundefinedundefined0'],
      logs: ['made 2'],
    });
  });

  test('reports errors with their line, those of tools too, and ends at the timeout', async () => {
    expect(await run('const a = 1;\nthrow new RangeError("mine")')).toMatchObject({
      success: false,
      error: { name: 'RangeError', message: 'mine', line: 2 },
    });
    expect(await run('return await external_double_it({ n: "x" })')).toMatchObject({
      success: false,
      error: { message: expect.stringMatching(/./) },
    });
    expect(await run('for (;;);', 1500)).toMatchObject({
      success: false,
      error: { name: 'resource_exceeded', message: expect.stringContaining('1500ms') },
    });
  });

  test('keeps the shape of a result, whatever a program that ends its function early returns', async () => {
    const transport = mastraTransport(runtime);
    const early = (value: string): Promise<unknown> =>
      transport.run({
        program: `}; return ${value}; async function other() {`,
        ...{ toolIds: [], dispatch: () => Promise.resolve(), timeout: 20_000 },
      });
    for (const value of ['null', '5', '[]', '{}'])
      expect(await early(value)).toEqual({ success: true, logs: [] });
    expect(await early('{ error: { name: { a: 1 }, stack: [2] } }')).toEqual({
      ...{ success: false, logs: [] },
      error: { name: '{"a":1}', message: '' },
    });
  });
});
