import { describe, expect, test } from 'vitest';
import { GROWTH_OF } from '../../../guest/wasm/contract.ts';
import { CAPS } from '../../../guest/wasm/install/caps.ts';
import { rewriteModule } from '../../../guest/wasm/install/rewrite.ts';
import { parseModule, refusal, wat } from '../binary/support.ts';
import { PROGRAMS } from '../programs.ts';
import { metered, meteredBinary, plain, rewrite, runWith } from './support.ts';

const PLENTY = 10_000_000n;

describe('a rewritten module', () => {
  test.each(Object.entries(PROGRAMS))('returns what the original returns: %s', (_, text) => {
    for (const input of [1, 2, 5, 12]) {
      const job = metered(text);
      job.fuel.value = PLENTY;
      expect(job.exports['run']?.(input)).toEqual(plain(text)['run']?.(input));
    }
  });

  test.each(Object.entries(PROGRAMS))('uses the same fuel on every repeat: %s', (_, text) => {
    const used = [1, 2, 3].map(() => {
      const job = metered(text);
      expect(runWith(job, PLENTY, 9)).toBe('returned');
      return PLENTY - BigInt(job.fuel.value);
    });
    expect(used[0]).toBeGreaterThan(0n);
    expect(new Set(used).size).toBe(1);
  });

  test.each(Object.entries(PROGRAMS))('does not run without fuel: %s', (_, text) => {
    expect(runWith(metered(text), 0n, 5)).toBe('fuel');
  });

  test('pays for a small function in the call, and not in the function', () => {
    const job = metered(
      '(module (func $leaf (export "run") (result i32) (i32.const 1)) (func (export "call") (drop (call $leaf))))',
    );
    expect(runWith(job, 0n)).toBe('returned');
    expect(job.fuel.value).toBe(0n);
    expect(() => job.exports['call']?.()).toThrow();
  });

  test('pays nothing in a function that returns at its first branch, and otherwise for the rest', () => {
    const job = metered(
      '(module (func $more) (func (export "run") (param i32) (block (br_if 0 (local.get 0)) (call $more))))',
    );
    expect(runWith(job, 0n, 1)).toBe('returned');
    expect(job.fuel.value).toBe(0n);
    expect(runWith(job, 0n, 0)).toBe('fuel');
    expect(runWith(job, PLENTY, 0)).toBe('returned');
    expect(PLENTY - BigInt(job.fuel.value)).toBeGreaterThanOrEqual(16n);
  });

  test('is byte for byte the same every time', () => {
    const bytes = wat(PROGRAMS['a switch'] as string);
    expect(rewrite(bytes).bytes).toEqual(rewrite(bytes).bytes);
  });
});

describe('running out of fuel', () => {
  test.each([
    ['a loop', '(module (func (export "run") (loop (br 0))))'],
    [
      'a loop of fills',
      '(module (memory 64) (func (export "run") (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 4194304)) (br 0))))',
    ],
    [
      'a loop of empty copies',
      '(module (memory 1) (func (export "run") (loop (memory.copy (i32.const 0) (i32.const 0) (i32.const 0)) (br 0))))',
    ],
    ['a loop of tail calls', '(module (func $f (export "run") (return_call $f)))'],
    [
      'two functions that call each other',
      '(module (func $f (export "run") (return_call $g)) (func $g (return_call $f)))',
    ],
    [
      'an indirect tail call',
      '(module (type $v (func)) (table funcref (elem $f)) (func $f (export "run") (return_call_indirect (type $v) (i32.const 0))))',
    ],
    ['a branch table', '(module (func (export "run") (loop $l (br_table $l $l $l (i32.const 1)))))'],
    ['a loop inside a branch', '(module (func (export "run") (if (i32.const 1) (then (loop (br 0))))))'],
    ['exceptions', '(module (tag $e) (func (export "run") (loop (try (do (throw $e)) (catch_all)) (br 0))))'],
    [
      'a handler that catches all',
      '(module (func (export "run") (loop $l (try (do (loop (br 0))) (catch_all (br $l))))))',
    ],
    [
      'growth of nothing',
      '(module (memory 1) (func (export "run") (loop (drop (memory.grow (i32.const 0))) (br 0))))',
    ],
    [
      'growth of a table',
      '(module (table 1 funcref) (func (export "run") (loop (drop (table.grow (ref.null func) (i32.const 1))) (br 0))))',
    ],
    [
      'a function that calls itself after its first branch',
      '(module (func $f (export "run") (block (br_if 0 (i32.const 0)) (return_call $f))))',
    ],
    [
      'a function that calls itself after the block of its first branch',
      '(module (func $f (export "run") (block (br_if 0 (i32.const 1))) (return_call $f)))',
    ],
    [
      'a function that calls itself in the other arm than that of its first branch',
      '(module (func $f (export "run") (if (i32.const 0) (then (br_if 0 (i32.const 0)) nop) (else (return_call $f)))))',
    ],
    [
      'a function that calls itself where it catches, with a branch before',
      '(module (tag $e) (func $f (export "run") (try (do (br_if 0 (i32.const 0)) (throw $e)) (catch_all (return_call $f)))))',
    ],
    [
      'a small function that loops after its first branch',
      '(module (func (export "run") (block (br_if 0 (i32.const 0)) (loop (br 0)))))',
    ],
    [
      'a tree of calls',
      '(module (func $f (param i32) (if (local.get 0) (then (call $f (i32.sub (local.get 0) (i32.const 1))) (call $f (i32.sub (local.get 0) (i32.const 1)))))) (func (export "run") (call $f (i32.const 100))))',
    ],
  ])('stops %s', (_, text) => {
    expect(runWith(metered(text), PLENTY)).toBe('fuel');
  });

  test('is distinguished from other traps', () => {
    expect(runWith(metered('(module (func (export "run") unreachable))'), PLENTY)).toBe('trapped');
    expect(runWith(metered('(module (func $f (export "run") (call $f)))'), 1n << 60n)).toBe('trapped');
  });

  test('stops a bulk operation before its work is done', () => {
    const job = metered(
      '(module (memory 64) (func (export "run") (memory.fill (i32.const 0) (i32.const 1) (i32.const 4194304))) (func (export "peek") (result i32) (i32.load8_u (i32.const 0))))',
    );
    expect(runWith(job, 1_000n)).toBe('fuel');
    job.fuel.value = PLENTY;
    expect(job.exports['peek']?.()).toBe(0);
  });
});

describe('the fuel price', () => {
  test('of one case of a large switch does not include the others', () => {
    const cases = 60;
    const arm = `${'(local.set $x (i32.add (i32.mul (local.get $x) (i32.const 3)) (i32.const 1)))'.repeat(8)} (br $next)`;
    const labels = Array.from({ length: cases }, (_, index) => `$c${index}`);
    let body = `(br_table ${labels.join(' ')} (local.get $x))`;
    for (const label of labels) body = `(block ${label} ${body}) ${arm}`;
    const job = metered(`(module (func (export "run") (param $x i32) (block $next ${body})))`);
    expect(runWith(job, PLENTY, 5)).toBe('returned');
    const instructions = cases * 8 * 6;
    expect(Number(PLENTY) - Number(job.fuel.value)).toBeLessThan(instructions / 4);
  });
});

test('also covers the newer form of exceptions', () => {
  // prettier-ignore
  const module = Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    1, 9, 2, 0x60, 0, 0, 0x60, 1, 0x7f, 1, 0x7f,
    3, 2, 1, 1,
    13, 3, 1, 0, 0,
    7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0,
    // block (try_table (catch_all 0) (throw 0)) (return 1) end (local.get 0) + 1
    10, 23, 1, 21, 0, 2, 0x40, 0x1f, 0x40, 1, 2, 0, 8, 0, 0x0b, 0x41, 1, 0x0f, 0x0b, 0x20, 0, 0x41, 1, 0x6a, 0x0b,
  ]);
  const job = meteredBinary(module);
  job.fuel.value = PLENTY;
  expect(job.exports['run']?.(41)).toBe(42);
  expect(runWith(job, 1_000n, 41)).toBe('fuel');
});

describe('the ceiling of a module', () => {
  test('stops the growth of its memory', () => {
    const text =
      '(module (memory 1) (func (export "run") (param i32) (result i32) (memory.grow (local.get 0))))';
    const job = metered(text, 4);
    job.fuel.value = PLENTY;
    expect(job.exports['run']?.(3)).toBe(1);
    expect(job.exports['run']?.(1)).toBe(-1);
    expect(job.rewritten.facts.memories).toEqual([{ min: 1, max: 4 }]);
    expect(metered('(module (memory 1 2))', 4).rewritten.facts.memories).toEqual([{ min: 1, max: 2 }]);
  });

  test('refuses a module that starts above it, with both numbers', () => {
    const error = refusal(() => rewrite(wat('(module (memory 5))'), 4));
    expect(error.message).toContain('5 pages');
    expect(error.message).toContain('limit is 4');
    expect(error.offset).toBeGreaterThan(8);
  });

  test('stops the growth of its tables', () => {
    const text =
      '(module (table 1 funcref) (func (export "run") (param i32) (result i32) (table.grow (ref.null func) (local.get 0))))';
    const job = metered(text);
    job.fuel.value = 1n << 40n;
    expect(job.exports['run']?.(CAPS.tableEntries)).toBe(-1);
    expect(job.rewritten.facts.tables).toEqual([{ min: 1, max: CAPS.tableEntries }]);
  });
});

describe('a growth that fails', () => {
  const growths: ['memory' | 'table', string][] = [
    ['memory', '(memory.grow (local.get 0))'],
    ['table', '(table.grow $t (ref.null func) (local.get 0))'],
  ];
  test.each(growths)('is recorded, and returns what it normally returns: %s', (of, growth) => {
    const job = metered(
      `(module (memory 1) (table $t 1 funcref) (global i64 (i64.const 7))
        (func (export "run") (param i32) (result i32) (i32.add ${growth} (i32.const 1))))`,
    );
    job.fuel.value = PLENTY;
    const flag = job.exports[job.rewritten.facts.growthExport as string] as unknown as WebAssembly.Global;
    expect([job.exports['run']?.(2), flag.value]).toEqual([2, 0]);
    expect([job.exports['run']?.(300_000), flag.value]).toEqual([0, GROWTH_OF[of]]);
    expect([job.exports['run']?.(1), flag.value]).toEqual([4, GROWTH_OF[of]]);
  });

  test('has no flag in a module that grows nothing', () => {
    expect(metered('(module (memory 1))').rewritten.facts.growthExport).toBeUndefined();
  });
});

describe('the rewriter', () => {
  test('turns a start function into an export, so that it does not run before there is fuel', () => {
    const job = metered(
      '(module (global $g (export "g") (mut i32) (i32.const 0)) (func $s (global.set $g (i32.const 5))) (start $s))',
    );
    const { startExport } = job.rewritten.facts;
    expect((job.exports['g'] as unknown as WebAssembly.Global).value).toBe(0);
    job.fuel.value = PLENTY;
    job.exports[startExport as string]?.();
    expect((job.exports['g'] as unknown as WebAssembly.Global).value).toBe(5);
  });

  test('uses names that do not occur in the module', () => {
    const module = parseModule(wat('(module)'));
    const first = rewriteModule(module, { maxPages: 1, takenNames: new Set() }).facts.fuelExport;
    const second = rewriteModule(module, { maxPages: 1, takenNames: new Set([first]) }).facts.fuelExport;
    expect(second).not.toBe(first);
  });

  test('removes custom sections', () => {
    const bytes = wat('(module (func $secret-name))');
    const named = Uint8Array.from([...bytes, 0, 6, 4, 0x6e, 0x61, 0x6d, 0x65, 0]);
    expect(rewrite(named).bytes).toEqual(rewrite(bytes).bytes);
  });
});
