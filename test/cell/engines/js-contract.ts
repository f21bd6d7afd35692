/**
 * The cell contract for JavaScript, the same for every engine that runs it.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { ODD_VALUE } from '../contract/results.ts';
import type { JsBench } from './js-wasm/js-bench.ts';

/** A row for tables of denied acts. */
export const DENIED_VARIABLE: [what: string, capability: string, asked: string, body: string] = [
  'a required variable',
  'env',
  'read NOT_DECLARED',
  'const { requireEnv } = await import("skillcell:env");\nreturn requireEnv("NOT_" + "DECLARED")',
];

export function jsContract(bench: JsBench): void {
  describe('results', () => resultContract(bench));
  describe('the entry of a skill', () => entryContract(bench));
  describe('failures', () => failureContract(bench));
}

function resultContract(bench: JsBench): void {
  test('a result is returned unchanged', async () => {
    const { result } = await bench.succeed(
      bench.skill('export const execute = (params) => params;'),
      ODD_VALUE,
    );
    expect(result).toEqual(ODD_VALUE);
  });

  test.each([
    ['nothing, as null', 'undefined', null],
    ['null', 'null', null],
    ['a text', '"ä"', 'ä'],
    ['half of a surrogate pair', '"\\ud800"', '\ud800'],
    ['a date, as text', 'new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['a promise of a promise', 'Promise.resolve(Promise.resolve([1]))', [1]],
  ])('a result may be %s', async (_, expression, expected) => {
    const skill = bench.skill(`export function execute() { return ${expression}; }`);
    expect((await bench.succeed(skill)).result).toEqual(expected);
  });

  test('a large result arrives complete', async () => {
    const skill = bench.skill('export const execute = ({ end }) => "é".repeat(450 * 1024) + end;');
    const { result } = await bench.succeed(skill, { end: 'end', padding: 'x'.repeat(900 * 1024) });
    expect(result).toBe(`${'é'.repeat(450 * 1024)}end`);
  });

  test.each([
    ['infinity', '({ a: [1, Infinity] })', 'result.a[1] is Infinity'],
    ['not a number', '[NaN]', 'result[0] is NaN'],
    ['a big integer', '({ x: 1n })', 'result.x is of type bigint'],
    ['a function', '() => 1', 'the result is of type function'],
    ['a circle', '((a) => (a.push(a), a))([])', 'result[0] contains itself'],
  ])('%s in a result is an error that names the place', async (_, expression, place) => {
    const { error } = await bench.fail(bench.skillThat(`return ${expression}`));
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain(place);
  });
}

function entryContract(bench: JsBench): void {
  test.each([
    ['an async function', 'export async function execute({ n }) { return n + 1; }'],
    ['a constant', 'export const execute = ({ n }) => n + 1;'],
    ['a class', 'export default class { one = 1; async execute({ n }) { return n + this.one; } }'],
    ['an object', 'export default { one: 1, execute({ n }) { return n + this.one; } };'],
    ['a function as default', 'export default ({ n }) => n + 1;'],
  ])('can be %s', async (_, source) => {
    expect((await bench.succeed(bench.skill(source), { n: 1 })).result).toBe(2);
  });

  test('must be exported as execute; otherwise, the error says so', async () => {
    const outcome = await bench.run(bench.skill('export const run = 1;'));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain('exports neither a function "execute"');
  });

  test('cannot be called if the module body fails, and each call says why', async () => {
    const skill = bench.skill('throw new RangeError("not today");\nexport const execute = () => 1;');
    for (let call = 0; call < 2; call++) {
      const outcome = await bench.run(skill);
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'skill_error', detail: { type: 'RangeError' } },
      });
    }
  });
}

function failureContract(bench: JsBench): void {
  test('an exception is reported with its type and only the skill part of its stack', async () => {
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
    expect(error.detail['trace']).not.toMatch(/skillcell:|harness|node:/);
  });

  test.each([
    ['a custom error', 'class Odd extends Error { name = "Odd" }\nthrow new Odd("x")', 'Odd'],
    ['a text', 'throw "just a text"', 'string'],
    ['nothing', 'throw undefined', 'undefined'],
    ['an error whose getters throw', 'throw new Proxy({}, { get() { throw 1 } })', 'object'],
    [
      'an unhandled rejection',
      'Promise.reject(new EvalError("lost"));\nawait new Promise((done) => setTimeout(done, 50)); return 1',
      'EvalError',
    ],
    [
      'a timer',
      'setTimeout(() => { throw new URIError("late") }, 1);\nawait new Promise(() => {})',
      'URIError',
    ],
    ['a promise that can never settle', 'await new Promise(() => {})', 'NeverSettled'],
    ['infinite recursion', 'const f = () => f() + 1;\nreturn f()', 'RangeError'],
  ])('%s is reported as an error of the skill', async (_, body, type) => {
    const { error } = await bench.fail(bench.skillThat(body));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type } });
  });

  test('a caller can cancel a running call', async () => {
    const skill = bench.skillThat('await new Promise((done) => setTimeout(done, 60000))');
    // The first call prepares the engine, which may take longer than the delay before the cancellation.
    await bench.succeed(skill);
    const outcome = await bench.run(skill, { go: true }, { signal: AbortSignal.timeout(2000) });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect((await bench.succeed(skill)).result).toBe('fine');
  });
}
