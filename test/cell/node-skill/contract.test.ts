/**
 * The contract of a cell, for JavaScript in a jailed Node: as in Wasm, and with what only a process has.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import { openJsBench } from '../js-wasm/js-bench.ts';

const PLACE = { mode: 'subprocess', engine: 'node' } as const;
const bench = openJsBench({ pool: { size: 1 } }, PLACE);
afterAll(bench.close);
const FS = "const fs = await import('node:fs');\n";

describe('results', () => {
  test('a result comes back as it was returned', async () => {
    const value = {
      text: 'äß €uro 𝄞 😀 \u0000 \u2028 "quoted" \\ \n\t\u001b[31m',
      'key with ü 😀': { deep: [[[{ a: [null, true, false] }]]] },
      numbers: [0, -1, 1.5, 1e300, -1e-300, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      empty: { list: [], object: {}, text: '' },
    };
    const { result } = await bench.succeed(bench.skill('export const execute = (params) => params;'), value);
    expect(result).toEqual(value);
  });

  test.each([
    ['nothing, as null', 'undefined', null],
    ['half of a surrogate pair', '"\\ud800"', '\ud800'],
    ['a date, as text', 'new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['a promise of a promise', 'Promise.resolve(Promise.resolve([1]))', [1]],
  ])('a result may be %s', async (_, expression, expected) => {
    const skill = bench.skill(`export function execute() { return ${expression}; }`);
    expect((await bench.succeed(skill)).result).toEqual(expected);
  });

  test('a large result arrives whole', async () => {
    const skill = bench.skill('export const execute = ({ end }) => "é".repeat(450 * 1024) + end;');
    const { result } = await bench.succeed(skill, { end: 'end', padding: 'x'.repeat(900 * 1024) });
    expect(result).toBe(`${'é'.repeat(450 * 1024)}end`);
  });

  test.each([
    ['not a number', '[NaN]', 'result[0] is NaN'],
    ['a big integer', '({ x: 1n })', 'result.x is of type bigint'],
    ['a function', '() => 1', 'the result is of type function'],
    ['a circle', '((a) => (a.push(a), a))([])', 'result[0] contains itself'],
  ])('%s in a result is an error that names the place', async (_, expression, place) => {
    const { error } = await bench.fail(bench.skillThat(`return ${expression}`));
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain(place);
  });

  test('what the skill prints is the log, and never the result', async () => {
    const skill = bench.skill(`
      console.log('loading');
      export function execute() { console.error('calling'); return 1; }
    `);
    const { result, logs } = await bench.succeed(skill);
    expect([result, logs.split('\n').toSorted()]).toEqual([1, ['', 'calling', 'loading']]);
  });
});

describe('what a skill may look like', () => {
  test.each([
    ['an async function', 'export async function execute({ n }) { return n + 1; }'],
    ['a class', 'export default class { one = 1; async execute({ n }) { return n + this.one; } }'],
    ['an object', 'export default { one: 1, execute({ n }) { return n + this.one; } };'],
    ['a function as default', 'export default ({ n }) => n + 1;'],
  ])('%s', async (_, source) => {
    expect((await bench.succeed(bench.skill(source), { n: 1 })).result).toBe(2);
  });

  test('TypeScript with files beside it, JSON, and our own modules', async () => {
    const skill = bench.skill({
      source: `
        import { double, type Amount } from './lib/double.js';
        import data from './lib/data.json';
        import { readFile } from 'skillcell:fs';
        import { env } from 'skillcell:env';
        export async function execute({ n }: { n: Amount }): Promise<unknown> {
          return [double(n), data.a, await readFile('lib/note.txt', 'utf8'), env['TEST_DECLARED']];
        }
      `,
      manifest: { env_vars: { TEST_DECLARED: {} } },
      files: {
        'lib/double.ts':
          'export type Amount = number;\nexport const double = (n: Amount): Amount => n * 2;\n',
        'lib/data.json': '{ "a": "ä" }',
        'lib/note.txt': 'a note',
        'package.json': '{ "type": "commonjs" }',
      },
    });
    const { result, warnings } = await bench.succeed(skill, { n: 4 });
    expect(result).toEqual([8, 'ä', 'a note', 'a value with ü = and spaces']);
    expect(warnings.filter((text) => text.includes('imports'))).toEqual([]);
  });

  test('a module without execute is told so', async () => {
    const outcome = await bench.run(bench.skill('export const run = 1;'));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain(
      '/skill/skill.ts exports no function "execute"',
    );
  });

  test('a module body that fails says why in each call', async () => {
    const skill = bench.skill('throw new RangeError("not today");\nexport const execute = () => 1;');
    for (let call = 0; call < 2; call++)
      expect(await bench.run(skill)).toMatchObject({
        ok: false,
        error: { code: 'skill_error', detail: { type: 'RangeError' } },
      });
  });

  test('nothing of a call is left for the next', async () => {
    const skill = bench.skill(`
      import { existsSync, writeFileSync } from 'node:fs';
      let calls = 0;
      export function execute() {
        const before = existsSync('/tmp/left');
        writeFileSync('/tmp/left', 'x');
        globalThis.left = (globalThis.left ?? 0) + 1;
        return [++calls, before, globalThis.left];
      }
    `);
    for (let call = 0; call < 3; call++) expect((await bench.succeed(skill)).result).toEqual([1, false, 1]);
  });

  test('a cell is started ahead, and its module body with it', async () => {
    const skill = await bench.runtime.load(
      bench.skill('const at = performance.now();\nexport const execute = () => performance.now() - at;'),
    );
    await bench.runtime.warm(skill);
    expect((await bench.runtime.execute(skill, {})).execution).toMatchObject({ start: 'pool', wall: 'jail' });
  });
});

describe('failures', () => {
  test('an exception is told with its type and the place in the skill alone', async () => {
    const skill = bench.skill(`
      interface Params { go?: boolean }
      export function execute(params: Params): unknown {
        if (!params.go) return 'fine';
        return deeper();
      }
      function deeper(): never {
        throw new SyntaxError('no such ä');
      }
    `);
    const { error } = await bench.fail(skill);
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'SyntaxError' } });
    expect(error.message).toContain('no such ä');
    expect(error.detail['trace']).toContain('/skill/skill.ts:7');
    expect(error.detail['trace']).not.toMatch(/harness|node:/);
  });

  test.each([
    ['an error of its own', 'class Odd extends Error { name = "Odd" }\nthrow new Odd("x")', 'Odd'],
    ['a text', 'throw "just a text"', 'string'],
    ['nothing', 'throw undefined', 'undefined'],
    ['an error that throws when it is looked at', 'throw new Proxy({}, { get() { throw 1 } })', 'object'],
    [
      'a promise that nobody listens to',
      'Promise.reject(new EvalError("lost"));\nawait new Promise((f) => setTimeout(f, 50)); return 1',
      'EvalError',
    ],
    [
      'a timer',
      'setTimeout(() => { throw new URIError("late") }, 1);\nawait new Promise(() => {})',
      'URIError',
    ],
    ['a promise that can never settle', 'await new Promise(() => {})', 'NeverSettled'],
    ['recursion without end', 'const f = () => f() + 1;\nreturn f()', 'RangeError'],
    ['exit', 'process.exit(0)', 'Exit'],
  ])('%s', async (_, body, type) => {
    const { error } = await bench.fail(bench.skillThat(body));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type } });
    if (type === 'Exit') expect(error.message).toContain('exit(0)');
  });

  test('a process that ends without a reply', async () => {
    const { error } = await bench.fail(bench.skillThat('process.reallyExit(3)'));
    expect(error).toMatchObject({ code: 'skill_error', detail: { exit_code: 3 } });
  });

  test.each([
    ['closes the channel', `${FS}fs.closeSync(3);\nreturn 1`],
    ['writes garbage into the channel', `${FS}fs.writeSync(3, Buffer.alloc(64, 255));\nreturn 1`],
    ['aborts', 'process.abort()'],
  ])('a skill that %s', async (_, body) => {
    const { error } = await bench.fail(bench.skillThat(body));
    expect(['skill_error', 'resource_exceeded']).toContain(error.code);
    expect(error.detail['limit']).not.toBe('memory');
  });

  test('a caller that gives up', async () => {
    const skill = bench.skillThat('await new Promise((done) => setTimeout(done, 60000))');
    // The first call prepares the engine, which may take longer than the caller waits here.
    await bench.succeed(skill);
    const outcome = await bench.run(skill, { go: true }, { signal: AbortSignal.timeout(2000) });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect((await bench.succeed(skill)).result).toBe('fine');
  });
});
