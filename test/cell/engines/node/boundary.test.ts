/**
 * Denials and limits of a jailed Node, the same as in every other cell.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import { openJsBench } from '../js-wasm/js-bench.ts';
import { DENIED_VARIABLE } from '../js-contract.ts';

const PLACE = { mode: 'subprocess', engine: 'node' } as const;
const bench = openJsBench({ pool: { size: 1 } }, PLACE);
afterAll(bench.close);
/** A manifest without the capabilities section: inspection only warns, so the cell boundary itself denies the act. */
const LEGACY = { capabilities: undefined };
const FS = "const fs = await import('node:fs');\n";

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
      'reading outside with skillcell:fs',
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
      'a request with node:http',
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
    DENIED_VARIABLE,
  ])('%s is denied', async (...denied) => {
    const [, capability, asked, body] = denied;
    const { error, capabilities } = await bench.fail(bench.skillThat(body, LEGACY));
    expect(error, error.message).toMatchObject({ code: 'capability_denied', detail: { capability } });
    expect(error.detail['asked']).toContain(asked);
    expect(error.fix).not.toBe('');
    expect(capabilities.denied).toContainEqual(expect.objectContaining({ capability }));
  });

  test('a denial that the skill catches is listed, and the call succeeds', async () => {
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
    ['an unrelated error', 'throw new RangeError("unrelated")', 'RangeError'],
    ['a system error', 'fs.readFileSync("/skill/missing.txt")', 'Error'],
  ])('a denial that the skill catches is not blamed for a later failure with %s', async (_, act, type) => {
    const body = `${FS}try { fs.readFileSync('/etc/passwd') } catch {}\n${act}`;
    const { error, capabilities } = await bench.fail(bench.skillThat(body));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type } });
    expect(capabilities.denied).toHaveLength(1);
  });

  test('a denial is still reported when the skill wraps it in another error', async () => {
    const body = `${FS}try { fs.readFileSync('/etc/passwd') } catch (cause) { throw new Error('no settings', { cause }) }`;
    expect((await bench.fail(bench.skillThat(body))).error).toMatchObject({
      code: 'capability_denied',
      detail: { capability: 'filesystem', asked: 'read /etc/passwd' },
    });
  });

  test('the kernel denies acts that bypass the permission checks', async () => {
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

  test('the skill sees only the usual and the declared variables', async () => {
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
      // `f` returns nothing: a chain of promises that wait for each other would fill the memory first.
      'const f = () => void Promise.resolve().then(f);\nf();\nawait new Promise(() => {})',
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
  ])('limit %s is enforced: %s', async (...row) => {
    const [limit, , body, limits] = row;
    const { error } = await bench.fail(bench.skillThat(body, { limits }));
    expect(error, error.message).toMatchObject({ code: 'resource_exceeded', detail: { limit } });
  });

  test("Node's own threads do not count towards the process limit", async () => {
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
    // The skill's own process is the fourth.
    expect((await bench.succeed(skill)).result).toBe(3);
  });

  test('garbage does not count towards the memory limit', async () => {
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
