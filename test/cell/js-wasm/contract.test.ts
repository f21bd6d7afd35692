/**
 * The contract of a cell, for JavaScript in Wasm: results, failures, denials and limits as in every other engine.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import { openJsBench } from './js-bench.ts';

const bench = openJsBench();
afterAll(bench.close);

describe('results', () => {
  test('a result comes back as it was returned', async () => {
    const value = {
      text: 'äß €uro 𝄞 😀 \u0000 \u2028 "quoted" \\ \n\t\u001b[31m',
      'key with ü 😀': { deep: [[[{ a: [null, true, false] }]]] },
      numbers: [0, -1, 1.5, 1e300, -1e-300, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      empty: { list: [], object: {}, text: '' },
      ['__proto__x']: 1,
    };
    const { result } = await bench.succeed(bench.skill('export const execute = (params) => params;'), value);
    expect(result).toEqual(value);
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

  test('a large result arrives whole', async () => {
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

  test('what the skill prints is the log, and never the result', async () => {
    const skill = bench.skill(`
      console.log('loading', { a: [1, 'b'] }, new Map([[1, { x: null }]]));
      export function execute() { console.error('calling'); console.warn(new Error('shown')); return 1; }
    `);
    const { result, logs } = await bench.succeed(skill);
    expect(result).toBe(1);
    expect(logs).toContain(
      'loading {a: [1, "b"]} Map {1 => {x: null}}\nerror: calling\nwarning: Error: shown',
    );
  });
});

describe('what a skill may look like', () => {
  test.each([
    ['an async function', 'export async function execute({ n }) { return n + 1; }'],
    ['a constant', 'export const execute = ({ n }) => n + 1;'],
    ['a class', 'export default class { one = 1; async execute({ n }) { return n + this.one; } }'],
    ['an object', 'export default { one: 1, execute({ n }) { return n + this.one; } };'],
    ['a function as default', 'export default ({ n }) => n + 1;'],
  ])('%s', async (_, source) => {
    expect((await bench.succeed(bench.skill(source), { n: 1 })).result).toBe(2);
  });

  test('a class is made anew for each call', async () => {
    const skill = bench.skill('export default class { calls = 0; execute() { return ++this.calls; } }');
    for (let call = 0; call < 3; call++) expect((await bench.succeed(skill)).result).toBe(1);
  });

  test('a module without execute is told so', async () => {
    const outcome = await bench.run(bench.skill('export const run = 1;'));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain('exports no function "execute"');
  });

  test('top-level await is part of loading', async () => {
    const skill = bench.skill('const late = await Promise.resolve(7);\nexport const execute = () => late;');
    expect((await bench.succeed(skill)).result).toBe(7);
  });

  test('a module body that waits for time runs with each call', async () => {
    const skill = bench.skill(
      'await new Promise((done) => setTimeout(done, 5));\nexport const execute = () => "waited";',
    );
    expect((await bench.succeed(skill)).result).toBe('waited');
    expect((await bench.succeed(skill)).result).toBe('waited');
  });

  test('a module body that fails says why in each call', async () => {
    const skill = bench.skill('throw new RangeError("not today");\nexport const execute = () => 1;');
    for (let call = 0; call < 2; call++) {
      const outcome = await bench.run(skill);
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'skill_error', detail: { type: 'RangeError' } },
      });
    }
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
    expect(error.detail['trace']).toContain('deeper (/skill/skill.ts:7');
    expect(error.detail['trace']).not.toContain('skillcell:');
  });

  test.each([
    ['an error of its own', 'class Odd extends Error { name = "Odd" }\nthrow new Odd("x")', 'Odd'],
    ['a text', 'throw "just a text"', 'string'],
    ['nothing', 'throw undefined', 'undefined'],
    ['an error that throws when it is looked at', 'throw new Proxy({}, { get() { throw 1 } })', 'object'],
    ['a promise that nobody listens to', 'Promise.reject(new EvalError("lost"));\nreturn 1', 'EvalError'],
    [
      'a timer',
      'setTimeout(() => { throw new URIError("late") }, 1);\nawait new Promise(() => {})',
      'URIError',
    ],
    ['a promise that can never settle', 'await new Promise(() => {})', 'NeverSettled'],
    ['recursion without end', 'const f = () => f() + 1;\nreturn f()', 'RangeError'],
    ['recursion through JSON', 'let a = [];\nfor (let i = 0; i < 5000; i++) a = [a];\nreturn a', 'NotJson'],
  ])('%s', async (_, body, type) => {
    const { error } = await bench.fail(bench.skillThat(body));
    expect(error.code).toBe('skill_error');
    if (type === 'NotJson') expect(error.message).toContain('no JSON');
    else expect(error.detail).toMatchObject({ type });
  });

  test('an error with a long text is cut, not lost', async () => {
    const { error } = await bench.fail(bench.skillThat('throw new RangeError("€".repeat(1e5))'));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'RangeError' } });
    expect(error.message).toContain('€€€');
  });

  test('a rejection that is handled later in the same turn is none', async () => {
    const skill = bench.skill(`
      export async function execute() {
        const failed = Promise.reject(new Error('handled'));
        return failed.catch(({ message }) => message);
      }
    `);
    expect((await bench.succeed(skill)).result).toBe('handled');
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

describe('denials', () => {
  const FILES = "const { readFile, readDir, stat } = await import('skillcell:fs');\n";

  test.each([
    ['reading outside', 'filesystem', 'read /etc/passwd', `${FILES}return readFile("/etc/passwd", "utf8")`],
    ['reading up and out', 'filesystem', 'read /etc/shadow', `${FILES}await readFile("../etc/shadow")`],
    ['listing outside', 'filesystem', 'read /home', `${FILES}return readDir("/home")`],
    ['looking outside', 'filesystem', 'read /root', `${FILES}return stat("/root")`],
    ['a request', 'network', 'GET http://127.0.0.1:9/x', 'await fetch("http://127.0.0.1:9/x?y=1")'],
    [
      'a post',
      'network',
      'POST https://skill.invalid/',
      'await fetch("https://skill.invalid", { method: "post", body: "x" })',
    ],
    [
      'a variable that it cannot do without',
      'env',
      'read NOT_DECLARED',
      'const { requireEnv } = await import("skillcell:env");\nreturn requireEnv("NOT_" + "DECLARED")',
    ],
  ])('%s', async (...denied) => {
    const [, capability, asked, body] = denied;
    // Without the section inspection only warns, so the boundary itself is what denies.
    const { error, capabilities } = await bench.fail(bench.skillThat(body, { capabilities: undefined }));
    expect(error).toMatchObject({ code: 'capability_denied', detail: { capability, asked } });
    expect(error.fix).not.toBe('');
    expect(capabilities.denied).toContainEqual(expect.objectContaining({ capability, asked }));
  });

  test('a denial that the skill swallows is listed, and the call succeeds', async () => {
    const skill = bench.skill(`
      import { readFile } from 'skillcell:fs';
      export async function execute() {
        const text = await readFile('/etc/passwd').catch(() => 'none');
        return [text, process.env['NOT_' + 'DECLARED'] ?? 'none'];
      }
    `);
    const { result, capabilities } = await bench.succeed(skill);
    expect(result).toEqual(['none', 'none']);
    expect(capabilities.denied.map(({ asked }) => asked)).toEqual(['read /etc/passwd', 'read NOT_DECLARED']);
  });

  test('a denial that the skill swallows is not the reason of a later failure', async () => {
    const body = `${FILES}await readFile('/etc/passwd').catch(() => {});\nthrow new RangeError('unrelated')`;
    const { error, capabilities } = await bench.fail(bench.skillThat(body));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'RangeError' } });
    expect(capabilities.denied).toHaveLength(1);
  });

  test('a denial is still the reason when the skill raises something else because of it', async () => {
    const body = `${FILES}await readFile('/etc/passwd').catch((cause) => { throw new Error('no settings', { cause }) })`;
    expect((await bench.fail(bench.skillThat(body))).error).toMatchObject({
      code: 'capability_denied',
      detail: { capability: 'filesystem', asked: 'read /etc/passwd' },
    });
  });

  test('a skill that wants to write is not run', async () => {
    const filesystem = [{ path: '${workspace}/out', access: 'read-write' }];
    const skill = await bench.runtime.load(
      bench.skill({ source: 'export const execute = () => 1;', manifest: { capabilities: { filesystem } } }),
    );
    await expect(bench.runtime.execute(skill, {})).rejects.toMatchObject({ code: 'skill_unavailable' });
  });
});

describe('limits', () => {
  test.each([
    ['timeout', 'asleep', 'await new Promise((done) => setTimeout(done, 60000))', { timeout: '700ms' }],
    ['timeout', 'busy', 'for (;;);', { timeout: '700ms', cpu: '60s' }],
    ['timeout', 'in C', 'return /(a+)+$/.test("a".repeat(64) + "b")', { timeout: '700ms', cpu: '60s' }],
    ['cpu', 'a loop', 'for (;;);', { cpu: '100ms', timeout: '20s' }],
    [
      'cpu',
      'promises without end',
      'const f = () => Promise.resolve().then(f);\nawait f()',
      { cpu: '100ms' },
    ],
    ['cpu', 'a result that never ends', 'return { toJSON() { for (;;); } }', { cpu: '100ms' }],
    ['memory', 'bytes', 'const a = [];\nfor (;;) a.push(new Uint8Array(1 << 20))', { memory: '32MiB' }],
    ['memory', 'texts', 'const a = [];\nfor (;;) a.push(`${a.length}`.repeat(1 << 16))', { memory: '32MiB' }],
    ['output', 'a large result', 'return "x".repeat(2 << 20)', {}],
    ['output', 'a result just beyond the limit', 'return "x".repeat(1000)', { output: '1000B' }],
    ['output', 'a flood of lines', 'for (;;) console.log("x".repeat(65535))', {}],
    ['output', 'a flood of short lines', 'for (;;) console.log()', {}],
    ['cpu', 'a flood of rejections', 'for (;;) Promise.reject(1)', { cpu: '200ms', memory: '128MiB' }],
    ['handles', 'a flood of timers', 'for (;;) setTimeout(() => {}, 1e6)', {}],
  ])('%s: %s', async (...row) => {
    const [limit, , body, limits] = row;
    const { error } = await bench.fail(bench.skillThat(body, { limits }));
    // Fuel is how CPU time is counted inside; which of the two ends first depends on the machine.
    const found = error.detail['limit'] === 'fuel' ? 'cpu' : error.detail['limit'];
    expect([error.code, found], error.message).toEqual(['resource_exceeded', limit]);
  });

  test.each(['1MiB', '2MiB'])('memory: an engine that does not fit into %s', async (memory) => {
    const skill = bench.skill({
      source: 'export const execute = () => 1;',
      manifest: { limits: { memory } },
    });
    expect(await bench.run(skill)).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
  });

  test('fuel is the same for the same call', async () => {
    const skill = bench.skill(
      'export const execute = ({ n }) => { let s = 0; while (n--) s += n; return s; }',
    );
    const used = [];
    for (let call = 0; call < 3; call++) used.push((await bench.succeed(skill, { n: 1000 })).usage.fuel);
    expect(new Set(used).size).toBe(1);
    expect(used[0]).toBeGreaterThan(10_000);
  });
});
