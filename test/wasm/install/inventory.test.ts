import { describe, expect, test } from 'vitest';
import type { ModuleFacts } from '../../../guest/wasm/contract.ts';
import { install } from '../../../guest/wasm/install/plan.ts';
import { rewriteModule } from '../../../guest/wasm/install/rewrite.ts';
import { fixture, parseModule, wat } from '../binary/support.ts';

function factsOf(text: string, takenNames: string[] = []): ModuleFacts {
  const options = { maxPages: 16, takenNames: new Set(takenNames), inventory: true };
  const { bytes, facts } = rewriteModule(parseModule(wat(text)), options);
  expect(WebAssembly.validate(bytes.slice())).toBe(true);
  return facts;
}

/** Values of the globals that were found, after `run`. */
function found(text: string): unknown[] {
  const module = parseModule(wat(text));
  const { bytes, facts } = rewriteModule(module, { maxPages: 16, takenNames: new Set(), inventory: true });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes.slice()), { env: { i: 1 } });
  (exports[facts.fuelExport] as WebAssembly.Global).value = 1_000_000n;
  (exports['run'] as () => void)();
  return facts.state?.globals.map((name) => (exports[name] as WebAssembly.Global).value) ?? [];
}

describe('the inventory of an instance', () => {
  test('contains its memory and its mutable globals', () => {
    const facts = factsOf(`(module (memory 1)
      (global i32 (i32.const 1)) (global (mut i32) (i32.const 2)) (global (mut i64) (i64.const 3)))`);
    expect(facts.state?.memories).toHaveLength(1);
    expect(facts.state?.globals).toHaveLength(2);
  });

  test('has the right indices after imported globals', () => {
    const values = found(`(module (import "env" "i" (global i32)) (global i32 (i32.const 1)) 
      (global $a (mut i32) (i32.const 2)) (global $b (mut i64) (i64.const 3))
      (func (export "run") (global.set $a (i32.const 20)) (global.set $b (i64.const 30))))`);
    expect(values).toEqual([20, 30n]);
  });

  test('does not contain imports, which belong to another instance', () => {
    const facts = factsOf(`(module (import "env" "m" (memory 1)) (import "env" "g" (global (mut i32))))`);
    expect(facts.state).toEqual({ memories: [], globals: [] });
  });

  test('contains the flag of a failed growth that the rewriter added', () => {
    const facts = factsOf('(module (memory 1) (func (export "run") (drop (memory.grow (i32.const 1)))))');
    expect(facts.state?.globals).toEqual([facts.growthExport]);
  });

  test('uses names that do not occur in the module', () => {
    const [name = ''] = factsOf('(module (memory 1))').state?.memories ?? [];
    expect(factsOf('(module (memory 1))', [name]).state?.memories).not.toEqual([name]);
  });
});

describe('an inventory', () => {
  const TABLE = '(table $t 4 funcref) (elem $e func $f) (memory 1) (data $d "x") (func $f)';
  const I32 = '(i32.const 0)';
  test.each([
    ['a 64-bit float global', '(global (mut f64) (f64.const 0))'],
    ['a 32-bit float global', '(global (mut f32) (f32.const 0))'],
    ['a vector global', '(global (mut v128) (v128.const i32x4 0 0 0 0))'],
    ['a reference global', '(global (mut funcref) (ref.null func))'],
    ['table.set', `${TABLE} (func (table.set $t ${I32} (ref.null func)))`],
    ['table.fill', `${TABLE} (func (table.fill $t ${I32} (ref.null func) ${I32}))`],
    ['table.grow', `${TABLE} (func (drop (table.grow $t (ref.null func) ${I32})))`],
    ['table.copy', `${TABLE} (func (table.copy $t $t ${I32} ${I32} ${I32}))`],
    ['table.init', `${TABLE} (func (table.init $t $e ${I32} ${I32} ${I32}))`],
    ['elem.drop', `${TABLE} (func (elem.drop $e))`],
    ['data.drop', `${TABLE} (func (data.drop $d))`],
  ])('does not exist for a module with %s', (_, text) => {
    expect(factsOf(`(module ${text})`).state).toBeUndefined();
  });

  test('exists for a module that only reads a table or a segment', () => {
    const reads = `(func (drop (table.get $t ${I32})) (drop (table.size $t)) (memory.init $d ${I32} ${I32} ${I32}))`;
    expect(factsOf(`(module ${TABLE} ${reads})`).state).toBeDefined();
  });
});

test('a component has an inventory for each of its modules', () => {
  const { plan } = install(fixture('hosted.wasm'), { maxPages: 16 });
  expect(plan.modules.map(({ state }) => state?.memories.length)).toEqual([1, 0, 0]);
});
