/**
 * `limits.memory` bounds the sum of all memories of a component, and its tables share a budget too.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import { component, EXECUTE_TYPES, list, section, str, wat } from '../../../wasm/binary/support.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { WasmBench } from './bench.ts';
import { REALLOC } from './programs.ts';

const MIB = 1024 * 1024;
const PAGES_PER_MIB = 16;
const { runtime, folder, close } = openTestRuntime({});
const bench = new WasmBench(runtime, folder);
afterAll(close);

/** A module with a private two-page memory and a private table, and functions that grow them. */
const HELPER = `(module (memory 2) (table $t 1 funcref)
  (func (export "grow") (param i32) (result i32) (local $at i32)
    (local.set $at (memory.grow (local.get 0)))
    (if (i32.ne (local.get $at) (i32.const -1))
      (then (memory.fill (i32.shl (local.get $at) (i32.const 16)) (i32.const 170) (i32.shl (local.get 0) (i32.const 16)))))
    (local.get $at))
  (func (export "entries") (param i32) (result i32) (table.grow $t (ref.null func) (local.get 0))))`;

/** Runs `first` and returns its parameters; `$grow0`, `$entries0` and so on are functions of the helpers. */
const main = (helpers: number, first: string): string => `(module
  ${Array.from({ length: helpers }, (_, at) => ['grow', 'entries'].map((name) => `(import "helper${at}" "${name}" (func $${name}${at} (param i32) (result i32)))`).join('')).join('\n')}
  (memory (export "memory") 2) (global $top (mut i32) (i32.const 1024))
  ${REALLOC}
  (func (export "execute") (param i32 i32) (result i32)
    (if (i32.ne (local.get 1) (i32.const 2)) (then ${first}))
    (i32.store8 (i32.const 64) (i32.const 0)) (i32.store (i32.const 68) (local.get 0)) (i32.store (i32.const 72) (local.get 1))
    (i32.const 64)))`;

function family(helpers: number, first: string): Uint8Array {
  const args = Array.from({ length: helpers }, (_, at) => [...str(`helper${at}`), 0x12, at]);
  return component(
    EXECUTE_TYPES,
    section(1, [...wat(HELPER)]),
    section(1, [...wat(main(helpers, first))]),
    list(2, ...args.map(() => [0, 0, 0]), [0, 1, helpers, ...args.flat()]),
    list(
      6,
      [0, 2, 1, helpers, ...str('memory')],
      [0, 0, 1, helpers, ...str('execute')],
      [0, 0, 1, helpers, ...str('cabi_realloc')],
    ),
    list(8, [0, 0, 0, 3, 0, 3, 0, 4, 1, 1]),
    list(11, [0, ...str('execute'), 1, 0, 0]),
  );
}

const must = (call: string): string => `(if (i32.eq ${call} (i32.const -1)) (then (unreachable)))`;
const grow = (helper: number, mib: number): string =>
  must(`(call $grow${helper} (i32.const ${mib * PAGES_PER_MIB}))`);
const limits = { memory: '64MiB', timeout: '20s', cpu: '20s' };

describe('the memories of a component', () => {
  test('may together use the whole limit, and the usage is their sum', async () => {
    const first = grow(0, 20) + grow(1, 20) + grow(2, 20);
    const skill = bench.skill(family(3, first), { limits });
    for (let call = 0; call < 5; call++) {
      const { result, usage } = await bench.succeed(skill, { call });
      expect(result).toEqual({ call });
      expect(usage.memory_peak_bytes).toBe(4 * 2 * 65_536 + 60 * MIB);
    }
    expect((await bench.succeed(skill, {})).usage.memory_peak_bytes).toBe(4 * 2 * 65_536);
  });

  test('may be dominated by one that uses nearly the whole limit', async () => {
    const skill = bench.skill(family(3, grow(1, 63)), { limits });
    expect((await bench.succeed(skill, { one: 1 })).result).toEqual({ one: 1 });
  });

  test('exceed the memory limit when only their sum does', async () => {
    const skill = bench.skill(family(3, grow(0, 30) + grow(1, 30) + grow(2, 30)), { limits });
    const outcome = await bench.run(skill, { go: true });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
    expect((await bench.succeed(skill, {})).result).toEqual({});
  });

  test('get budget back when growing one of them fails', async () => {
    const fails = `(drop (call $grow0 (i32.const 70000))) (drop (call $grow1 (i32.const -1)))`;
    const skill = bench.skill(family(2, fails + grow(0, 30) + grow(1, 30)), { limits });
    expect((await bench.succeed(skill, { go: 1 })).result).toEqual({ go: 1 });
  });

  test('are refused if their initial sizes together exceed the limit', async () => {
    const skill = bench.skill(family(40, ''), { limits: { ...limits, memory: '4MiB' } });
    expect(await bench.run(skill, { go: true })).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
    });
  });
});

describe('the tables of a component', () => {
  const entries = (helper: number, count: number): string =>
    must(`(call $entries${helper} (i32.const ${count}))`);

  test('share one budget', async () => {
    const within = bench.skill(family(2, entries(0, 90_000) + entries(1, 90_000)), { limits });
    expect((await bench.succeed(within, { go: 1 })).result).toEqual({ go: 1 });
    const beyond = bench.skill(family(2, entries(0, 150_000) + entries(1, 150_000)), { limits });
    for (let call = 0; call < 2; call++) {
      expect(await bench.run(beyond, { go: true })).toMatchObject({
        ok: false,
        error: { code: 'resource_exceeded', detail: { limit: 'memory' } },
      });
      expect((await bench.succeed(beyond, {})).result).toEqual({});
    }
  });
});
