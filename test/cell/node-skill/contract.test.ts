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
/** A manifest without the section: inspection only warns, so the boundary itself is what denies. */
const LEGACY = { capabilities: undefined };
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
    const outcome = await bench.run(skill, { go: true }, { signal: AbortSignal.timeout(400) });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error', detail: { cancelled: true } } });
    expect((await bench.succeed(skill)).result).toBe('fine');
  });
});

describe('denials', () => {
  const OURS = "const { readFile } = await import('skillcell:fs');\n";

  test.each([
    [
      'reading outside',
      'filesystem',
      'read /etc/passwd',
      `${FS}return fs.readFileSync("/etc/passwd", "utf8")`,
    ],
    [
      'reading outside by our module',
      'filesystem',
      'read /etc/passwd',
      `${OURS}await readFile("/etc/passwd")`,
    ],
    ['reading up and out', 'filesystem', 'read /etc/shadow', `${OURS}await readFile("../etc/shadow")`],
    [
      'writing outside',
      'filesystem',
      'write /etc/motd',
      `${FS}await fs.promises.writeFile("/etc/motd", "x")`,
    ],
    [
      'writing into the bundle',
      'filesystem',
      'write /skill/skill.js',
      `${FS}fs.appendFileSync("skill.js", "x")`,
    ],
    ['making a folder in the bundle', 'filesystem', 'write /skill/new', `${FS}fs.mkdirSync("/skill/new")`],
    ['removing its own code', 'filesystem', 'write /skill/skill.js', `${FS}fs.unlinkSync("/skill/skill.js")`],
    ['listing outside', 'filesystem', 'read /home', `${FS}return fs.readdirSync("/home")`],
    ['a request', 'network', 'GET http://127.0.0.1:9/x', 'await fetch("http://127.0.0.1:9/x?y=1")'],
    [
      'a post',
      'network',
      'POST https://skill.invalid/',
      'await fetch("https://skill.invalid", { method: "post", body: "x" })',
    ],
    [
      'connecting',
      'network',
      'connect 127.0.0.1:9',
      "const net = await import('node:net');\nawait new Promise((f, g) => net.connect(9, '127.0.0.1', f).on('error', g))",
    ],
    [
      'a request by http',
      'network',
      'connect skill.invalid:80',
      "const http = await import('node:http');\nawait new Promise((f, g) => http.get('http://skill.invalid/', f).on('error', g))",
    ],
    [
      'resolving a name',
      'network',
      'resolve skill.invalid',
      "const dns = await import('node:dns');\nawait dns.promises.lookup('skill.invalid')",
    ],
    [
      'listening',
      'network',
      'listen on',
      "const net = await import('node:net');\nawait new Promise((f, g) => net.createServer().on('error', g).listen(0, '127.0.0.1', f))",
    ],
    [
      'starting a program',
      'process',
      'start /usr/bin/true',
      "const { execFileSync } = await import('node:child_process');\nexecFileSync('/usr/bin/true')",
    ],
    [
      'becoming another program',
      'process',
      'start /usr/bin/true',
      "process.execve('/usr/bin/true', ['true'], {})",
    ],
    [
      'a variable that it cannot do without',
      'env',
      'read NOT_DECLARED',
      'const { requireEnv } = await import("skillcell:env");\nreturn requireEnv("NOT_" + "DECLARED")',
    ],
  ])('%s', async (...denied) => {
    const [, capability, asked, body] = denied;
    const { error, capabilities } = await bench.fail(bench.skillThat(body, LEGACY));
    expect(error, error.message).toMatchObject({ code: 'capability_denied', detail: { capability } });
    expect(error.detail['asked']).toContain(asked);
    expect(error.fix).not.toBe('');
    expect(capabilities.denied).toContainEqual(expect.objectContaining({ capability }));
  });

  test('a denial that the skill swallows is listed, and the call succeeds', async () => {
    const skill = bench.skill(`
      import { existsSync, readFileSync } from 'node:fs';
      export function execute() {
        let text = 'none';
        try { text = readFileSync('/etc/passwd', 'utf8'); } catch {}
        return [text, existsSync('/etc/shadow'), process.env['NOT_' + 'DECLARED'] ?? 'none'];
      }
    `);
    const { result, capabilities } = await bench.succeed(skill);
    expect(result).toEqual(['none', false, 'none']);
    expect(capabilities.denied.map(({ asked }) => asked)).toEqual([
      'read /etc/passwd',
      'read /etc/shadow',
      'read NOT_DECLARED',
    ]);
  });

  test.each([
    ['nothing of the system', 'throw new RangeError("unrelated")', 'RangeError'],
    ['the system', 'fs.readFileSync("/skill/missing.txt")', 'Error'],
  ])('a denial that the skill swallows is not the reason of a later failure by %s', async (_, act, type) => {
    const body = `${FS}try { fs.readFileSync('/etc/passwd') } catch {}\n${act}`;
    const { error, capabilities } = await bench.fail(bench.skillThat(body));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type } });
    expect(capabilities.denied).toHaveLength(1);
  });

  test('a denial is still the reason when the skill raises something else because of it', async () => {
    const body = `${FS}try { fs.readFileSync('/etc/passwd') } catch (cause) { throw new Error('no settings', { cause }) }`;
    expect((await bench.fail(bench.skillThat(body))).error).toMatchObject({
      code: 'capability_denied',
      detail: { capability: 'filesystem', asked: 'read /etc/passwd' },
    });
  });

  test('the kernel denies what the report does not see', async () => {
    const skill = bench.skill({
      manifest: { limits: { processes: 24 } },
      source: `
        import { spawnSync } from 'node:child_process';
        const sh = (script) => spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).stdout.trim();
        export const execute = () => ({
          read: sh('test -e /etc/passwd && echo there || echo none'),
          write: sh('(echo x > /skill/new) 2>/dev/null && echo written || echo denied'),
          hosts: sh('cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " "'),
          uid: sh('id -u'),
        });
      `,
    });
    expect((await bench.succeed(skill)).result).toEqual({
      read: 'none',
      write: 'denied',
      hosts: 'lo',
      uid: '65534',
    });
  });

  test('the skill sees no variables but the usual and the declared', async () => {
    const skill = bench.skill({
      manifest: { env_vars: { TEST_DECLARED: {} } },
      source: 'export const execute = () => Object.keys(process.env).toSorted();',
    });
    expect((await bench.succeed(skill)).result).toEqual([
      'HOME',
      'LANG',
      'PATH',
      'PWD',
      'TEST_DECLARED',
      'TMPDIR',
    ]);
  });
});

describe('limits', () => {
  test.each([
    ['timeout', 'asleep', 'await new Promise((done) => setTimeout(done, 60000))', { timeout: '1500ms' }],
    ['timeout', 'busy', 'for (;;);', { timeout: '1500ms', cpu: '60s' }],
    ['timeout', 'in C', 'return /(a+)+$/.test("a".repeat(64) + "b")', { timeout: '1500ms', cpu: '60s' }],
    [
      'timeout',
      'promises without end',
      'const f = () => Promise.resolve().then(f);\nawait f()',
      { timeout: '1500ms', cpu: '60s' },
    ],
    ['cpu', 'a loop', 'for (;;);', { cpu: '1s', timeout: '20s' }],
    ['memory', 'bytes', 'const a = [];\nfor (;;) a.push(Buffer.alloc(1 << 20, 1))', { memory: '96MiB' }],
    [
      'memory',
      'objects',
      'const a = [];\nfor (;;) a.push({ at: a.length, more: [a.length] })',
      { memory: '96MiB' },
    ],
    [
      'memory',
      'texts',
      'const a = [];\nfor (;;) a.push(`${a.length}`.repeat(1 << 10).split("").join("-"))',
      { memory: '128MiB' },
    ],
    ['output', 'a large result', 'return "x".repeat(2 << 20)', {}],
    ['output', 'a result just beyond the limit', 'return "x".repeat(1000)', { output: '1000B' }],
    ['output', 'a flood of lines', 'for (;;) console.log("x".repeat(65535))', {}],
    [
      'scratch',
      'many files',
      `${FS}for (let n = 0; n < 64; n++) fs.writeFileSync("/tmp/" + n, Buffer.alloc(1 << 20))`,
      { scratch: '4MiB' },
    ],
    ['scratch', 'one file', `${FS}fs.writeFileSync("/tmp/one", Buffer.alloc(64 << 20))`, { scratch: '4MiB' }],
    [
      'processes',
      'when some are declared',
      "const { spawn } = await import('node:child_process');\nfor (let n = 0; n < 64; n++) await new Promise((f, g) => spawn('/usr/bin/sleep', ['60']).on('spawn', f).on('error', g))",
      { processes: 4 },
    ],
  ])('%s: %s', async (limit, _, body, limits) => {
    const { error } = await bench.fail(bench.skillThat(body, { limits }));
    expect(error, error.message).toMatchObject({ code: 'resource_exceeded', detail: { limit } });
  });

  test('processes are counted without the threads of Node', async () => {
    const skill = bench.skill({
      manifest: { limits: { processes: 4 } },
      source: `
        import { spawn } from 'node:child_process';
        const start = () => new Promise((f) => spawn('/usr/bin/sleep', ['60']).on('spawn', () => f(1)).on('error', () => f(0)));
        export async function execute() {
          let started = 0;
          for (let n = 0; n < 16; n++) started += await start();
          return started;
        }
      `,
    });
    // The skill itself is the fourth.
    expect((await bench.succeed(skill)).result).toBe(3);
  });

  test('garbage alone reaches no limit', async () => {
    const skill = bench.skillThat(
      'let s = 0;\nfor (let n = 0; n < 400; n++) s += new Array(1 << 16).fill({ n }).length;\nreturn s',
      { limits: { memory: '96MiB' } },
    );
    expect((await bench.succeed(skill, { go: true })).result).toBe(400 * 65_536);
  });

  test('a few threads need no declaration', async () => {
    const skill = bench.skill(`
      import { Worker } from 'node:worker_threads';
      const text = "require('node:worker_threads').parentPort.postMessage(6 * 7)";
      const one = () => new Promise((f, g) => new Worker(text, { eval: true }).on('message', f).on('error', g));
      export const execute = () => Promise.all([one(), one()]);
    `);
    expect((await bench.succeed(skill)).result).toEqual([42, 42]);
  });
});
