/**
 * Why an image of the memory and the stack pointer is the complete interpreter: nothing else in the engine can change.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { KEPT_EXPORTS, REFERENCE_TABLES } from '../../../guest/wasm/python/engine/exports.ts';
import { markStores } from '../../../guest/wasm/python/engine/mark-stores.ts';
import { rewriteModule } from '../../../guest/wasm/python/engine/rewrite.ts';
import { tableArities, trampolineModule } from '../../../guest/wasm/python/engine/trampoline.ts';
import { checkImports } from '../../../guest/wasm/python/install/known-imports.ts';
import { takeInventory } from './inventory.ts';

const engine = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('pyodide/pyodide.asm.wasm')),
);
const inventory = takeInventory(engine);

function exportIndex(name: string): number {
  return inventory.exports.get(name)?.index ?? expect.fail(`no export ${name}`);
}

test('memory grows only through our import', () => {
  expect(inventory.memories).toBe(1);
  expect(inventory.memoryGrow).toBe(0);
});

test('all data is placed at the start, and nothing runs before the host calls it', () => {
  expect(inventory.passiveData).toBe(0);
  expect(inventory.startFunction).toBe(false);
});

test('no import can be reached through a pointer of the guest', () => {
  expect(inventory.tableEntries.length).toBeGreaterThan(8000);
  expect(inventory.tableEntries.filter((index) => index < inventory.importedFunctions)).toEqual([]);
});

test('the function table never changes', () => {
  const functionTable = exportIndex('__indirect_function_table');
  expect(inventory.tableWriters.get(functionTable)).toBeUndefined();
});

test('the other tables hold JavaScript references, start empty, and are all watched', () => {
  expect(new Set(inventory.tableWriters.keys())).toEqual(new Set(Object.values(REFERENCE_TABLES)));
  expect(inventory.tables).toBe(1 + Object.keys(REFERENCE_TABLES).length);
});

test('running code can change only the stack pointer among the mutable globals', () => {
  const own = inventory.globals.flatMap((isMutable, index) =>
    isMutable && index >= inventory.importedGlobals ? [index] : [],
  );
  const others = own.filter((index) => index !== exportIndex('__stack_pointer'));
  expect(own).toHaveLength(4);
  expect(inventory.writers.get(exportIndex('__stack_pointer'))?.size).toBeGreaterThan(1000);
  const setters = ['emscripten_stack_init', 'emscripten_stack_set_limits', '_emscripten_tempret_set'];
  const known = new Set(setters.map(exportIndex));
  const constructors = exportIndex('__wasm_call_ctors');
  for (const global of others) {
    for (const writer of inventory.writers.get(global) ?? []) {
      expect(known).toContain(writer);
      expect(inventory.tableEntries).not.toContain(writer);
      expect([...(inventory.callers.get(writer) ?? [])].filter((caller) => caller !== constructors)).toEqual(
        [],
      );
    }
  }
});

test('imported globals are never set', () => {
  const set = [...inventory.writers.keys()].filter((index) => index < inventory.importedGlobals);
  expect(set).toEqual([]);
});

test('the rewritten module imports our two memories, and has few exports', () => {
  const options = { minPages: 128, maxPages: 65_536, keep: KEPT_EXPORTS, tables: REFERENCE_TABLES };
  const { module, data } = rewriteModule(engine, options);
  const rewritten = new WebAssembly.Module(markStores(module));
  checkImports(rewritten);
  expect(
    WebAssembly.Module.exports(rewritten)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...KEPT_EXPORTS, ...Object.keys(REFERENCE_TABLES)].toSorted());
  expect(
    WebAssembly.Module.imports(rewritten)
      .filter(({ kind }) => kind === 'memory')
      .map(({ name }) => name),
  ).toEqual(['memory', 'cards']);
  expect(data.length).toBeGreaterThan(10_000);
});

test('another engine is refused', () => {
  const other = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  expect(() => checkImports(new WebAssembly.Module(other))).toThrow(/unexpected imports/);
});

test('the trampoline calls by arity and refuses the rest', () => {
  const arities = tableArities(engine);
  expect(new Set(arities)).toEqual(new Set([0, 1, 2, 3, 4]));
  expect(WebAssembly.validate(trampolineModule(arities))).toBe(true);
});
