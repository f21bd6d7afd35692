/**
 * The cell contract for JavaScript in Wasm: results, failures, denials and limits as in every other engine.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import { DENIED_VARIABLE, jsContract } from '../js-contract.ts';
import { openJsBench } from './js-bench.ts';

const bench = openJsBench();
afterAll(bench.close);
jsContract(bench);

describe('results', () => {
  test('output of the skill goes to the log and never becomes the result', async () => {
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

describe('the entry of a skill', () => {
  test('is instantiated for each call if it is a class', async () => {
    const skill = bench.skill('export default class { calls = 0; execute() { return ++this.calls; } }');
    for (let call = 0; call < 3; call++) expect((await bench.succeed(skill)).result).toBe(1);
  });

  test('may be defined after a top-level await', async () => {
    const skill = bench.skill('const late = await Promise.resolve(7);\nexport const execute = () => late;');
    expect((await bench.succeed(skill)).result).toBe(7);
  });

  test('is loaded again in each call if the module body waits for a timer', async () => {
    const skill = bench.skill(
      'await new Promise((done) => setTimeout(done, 5));\nexport const execute = () => "waited";',
    );
    expect((await bench.succeed(skill)).result).toBe('waited');
    expect((await bench.succeed(skill)).result).toBe('waited');
  });
});

describe('failures', () => {
  test('recursion through JSON is reported as an error of the skill', async () => {
    const body = 'let a = [];\nfor (let i = 0; i < 5000; i++) a = [a];\nreturn a';
    const { error } = await bench.fail(bench.skillThat(body));
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain('not valid JSON');
  });

  test('a long error message is truncated, not lost', async () => {
    const { error } = await bench.fail(bench.skillThat('throw new RangeError("€".repeat(1e5))'));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'RangeError' } });
    expect(error.message).toContain('€€€');
  });

  test('a rejection that is handled later in the same turn is not a failure', async () => {
    const skill = bench.skill(`
      export async function execute() {
        const failed = Promise.reject(new Error('handled'));
        return failed.catch(({ message }) => message);
      }
    `);
    expect((await bench.succeed(skill)).result).toBe('handled');
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
    DENIED_VARIABLE,
  ])('%s is denied', async (...denied) => {
    const [, capability, asked, body] = denied;
    // Without the capabilities section, inspection only warns, so the cell boundary itself denies the act.
    const { error, capabilities } = await bench.fail(bench.skillThat(body, { capabilities: undefined }));
    expect(error).toMatchObject({ code: 'capability_denied', detail: { capability, asked } });
    expect(error.fix).not.toBe('');
    expect(capabilities.denied).toContainEqual(expect.objectContaining({ capability, asked }));
  });

  test('a denial that the skill catches is listed, and the call succeeds', async () => {
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

  test('a denial that the skill catches is not blamed for a later failure', async () => {
    const body = `${FILES}await readFile('/etc/passwd').catch(() => {});\nthrow new RangeError('unrelated')`;
    const { error, capabilities } = await bench.fail(bench.skillThat(body));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type: 'RangeError' } });
    expect(capabilities.denied).toHaveLength(1);
  });

  test('a denial is still reported when the skill wraps it in another error', async () => {
    const body = `${FILES}await readFile('/etc/passwd').catch((cause) => { throw new Error('no settings', { cause }) })`;
    expect((await bench.fail(bench.skillThat(body))).error).toMatchObject({
      code: 'capability_denied',
      detail: { capability: 'filesystem', asked: 'read /etc/passwd' },
    });
  });

  test('a skill that declares writable files is refused', async () => {
    const filesystem = [{ path: '${workspace}/out', access: 'read-write' }];
    const skill = await bench.runtime.load(
      bench.skill({ source: 'export const execute = () => 1;', manifest: { capabilities: { filesystem } } }),
    );
    await expect(bench.runtime.execute(skill, {})).rejects.toMatchObject({ code: 'skill_unavailable' });
  });
});

describe('limits', () => {
  test.each([
    ['timeout', 'asleep', 'await new Promise((done) => setTimeout(done, 60000))', { timeout: '3s' }],
    ['timeout', 'busy', 'for (;;);', { timeout: '3s', cpu: '60s' }],
    ['timeout', 'in C', 'return /(a+)+$/.test("a".repeat(64) + "b")', { timeout: '3s', cpu: '60s' }],
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
  ])('limit %s is enforced: %s', async (...row) => {
    const [limit, , body, limits] = row;
    const { error } = await bench.fail(bench.skillThat(body, { limits }));
    // Fuel also bounds CPU time; which of the two ends first depends on the machine.
    const found = error.detail['limit'] === 'fuel' ? 'cpu' : error.detail['limit'];
    expect([error.code, found], error.message).toEqual(['resource_exceeded', limit]);
  });

  test.each(['1MiB', '2MiB'])(
    'an engine that does not fit into %s of memory is reported as the memory limit',
    async (memory) => {
      const skill = bench.skill({
        source: 'export const execute = () => 1;',
        manifest: { limits: { memory } },
      });
      expect(await bench.run(skill)).toMatchObject({
        ok: false,
        error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
      });
    },
  );

  test('the same call always costs the same fuel', async () => {
    const skill = bench.skill(
      'export const execute = ({ n }) => { let s = 0; while (n--) s += n; return s; }',
    );
    const used = [];
    for (let call = 0; call < 3; call++) used.push((await bench.succeed(skill, { n: 1000 })).usage.fuel);
    expect(new Set(used).size).toBe(1);
    expect(used[0]).toBeGreaterThan(10_000);
  });
});
