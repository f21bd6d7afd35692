/**
 * No state of one call is visible in the next, and nothing of the host is visible at all.
 *
 * @module
 */
import { afterAll, expect, test } from 'vitest';
import { openJsBench } from './js-bench.ts';

const bench = openJsBench();
afterAll(bench.close);

test.each([
  ['a module variable', 'const kept = [];\nexport const execute = () => kept.push(1);', 1],
  ['a global', 'export const execute = () => (globalThis.left = (globalThis.left ?? 0) + 1);', 1],
  [
    'a prototype',
    'export function execute() { const was = [].left ?? 0; Array.prototype.left = 1; return was; }',
    0,
  ],
  [
    'a function of the prelude',
    'export function execute() { const was = fetch.left ?? 0; fetch.left = 1; return was; }',
    0,
  ],
  [
    'JSON itself',
    'export function execute(p) { const t = JSON.stringify([1]); JSON.stringify = () => "0"; return t; }',
    '[1]',
  ],
  [
    'frozen built-ins',
    'export function execute() { const was = Object.isFrozen(Math); [Math, Array, Promise.prototype, globalThis].forEach(Object.freeze); return was; }',
    false,
  ],
  [
    'a timer',
    'let fired = 0;\nsetTimeout;\nexport function execute() { const was = fired; setTimeout(() => fired++, 0); return was; }',
    0,
  ],
])('a call does not see a change to %s by the call before', async (_, source, expected) => {
  const skill = bench.skill({ source, entry: 'skill.js' });
  for (let call = 0; call < 4; call++) expect((await bench.succeed(skill)).result).toEqual(expected);
});

test('memory that a call filled is cleared, and grown memory is freed', async () => {
  const skill = bench.skill(`
    export function execute({ bytes }) {
      if (bytes === 0) return [globalThis.held === undefined];
      globalThis.held = new Uint8Array(bytes).fill(0xaa);
      return globalThis.held.length;
    }
  `);
  for (const bytes of [1000, 300_000, 20_000_000]) {
    expect((await bench.succeed(skill, { bytes })).result).toBe(bytes);
    const { result, usage } = await bench.succeed(skill, { bytes: 0 });
    expect(result).toEqual([true]);
    expect(usage.memory_peak_bytes).toBeLessThan(5_000_000);
  }
});

test('random numbers, ids and the clock differ between calls, even if the module body used them', async () => {
  const skill = bench.skill(`
    const early = Math.random();
    export function execute() {
      const bytes = crypto.getRandomValues(new Uint8Array(8)).join();
      return { early, now: Date.now(), since: performance.now(), drawn: [Math.random(), crypto.randomUUID(), bytes] };
    }
  `);
  const results: { now: number; since: number; drawn: unknown[] }[] = [];
  for (let call = 0; call < 3; call++)
    results.push((await bench.succeed(skill)).result as (typeof results)[number]);
  expect(new Set(results.flatMap(({ drawn }) => drawn)).size).toBe(9);
  expect(Math.abs((results[2]?.now ?? 0) - Date.now())).toBeLessThan(60_000);
  // The clock starts with the call, so that it does not reveal the age of the process.
  for (const { since } of results) expect(since).toBeGreaterThanOrEqual(0);
});

test('the environment has only the declared names', async () => {
  const skill = bench.skill({
    manifest: { env_vars: { TEST_DECLARED: { required: true }, TEST_ABSENT: {} } },
    source: `
      import { env } from 'skillcell:env';
      export const execute = () => [{ ...process.env }, env.TEST_DECLARED, env.TEST_ABSENT ?? 'absent', Object.keys(process)];
    `,
  });
  const { result, capabilities } = await bench.succeed(skill);
  expect(result).toEqual([
    { TEST_DECLARED: 'a value with ü = and spaces' },
    'a value with ü = and spaces',
    'absent',
    ['env'],
  ]);
  expect(capabilities.denied).toEqual([]);
});

test('nothing of Node is reachable', async () => {
  const skill = bench.skill(`
    export async function execute() {
      const root = (async () => {}).constructor('return globalThis')();
      const names = Object.getOwnPropertyNames(await root);
      const absent = ['require', 'module', 'Buffer', 'WebAssembly', 'Deno', '__skillcell', 'std', 'os', 'bjson'];
      const imports = ['fs', 'node:fs', 'std', 'os', 'skillcell:prelude/host.js', '/etc/passwd', 'data:text/javascript,1'];
      const loaded = [];
      for (const name of imports) await import(name).then(() => loaded.push(name), () => {});
      return [names.filter((name) => absent.includes(name)), loaded];
    }
  `);
  expect((await bench.succeed(skill)).result).toEqual([[], []]);
});
