/**
 * The inventory is taken of Pyodide's module, but cells run ours. Removing what a cell does not need leaves the code as it is;
 * `host-hash.test.ts` and `mark-stores.test.ts` are about the two other steps.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { Reader } from '../../../guest/wasm/binary/reader.ts';
import { KEPT_EXPORTS, REFERENCE_TABLES } from '../../../guest/wasm/python/engine/exports.ts';
import { rewriteModule } from '../../../guest/wasm/python/engine/rewrite.ts';

const UNCHANGED = { types: 1, functions: 3, tables: 4, globals: 6, elements: 9, code: 10, tags: 13 };
const GONE = { memory: 5, start: 8, data: 11, 'data count': 12 };

const engine = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('pyodide/pyodide.asm.wasm')),
);
const { module } = rewriteModule(engine, {
  minPages: 128,
  maxPages: 65_536,
  keep: KEPT_EXPORTS,
  tables: REFERENCE_TABLES,
});

function sections(bytes: Uint8Array): Map<number, Uint8Array> {
  const reader = new Reader(bytes, 8);
  const found = new Map<number, Uint8Array>();
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    found.set(id, bytes.subarray(section.position, section.end));
  }
  return found;
}

const [before, after] = [sections(engine), sections(module)];

test.each(Object.entries(UNCHANGED))('the %s of the rewritten module are those of Pyodide', (_, id) => {
  const [old, now] = [before.get(id), after.get(id)];
  expect(old?.length).toBeGreaterThan(0);
  expect(Buffer.compare(old ?? Buffer.of(0), now ?? Buffer.of(1))).toBe(0);
});

test.each(Object.entries(GONE))('the rewritten module has no %s section', (_, id) => {
  expect(after.has(id)).toBe(false);
});

test('a module that lacks an export that the host calls is refused', () => {
  const keep = [...KEPT_EXPORTS, 'no_such_function'];
  const options = { minPages: 128, maxPages: 65_536, keep, tables: {} };
  expect(() => rewriteModule(engine, options)).toThrow(/does not export no_such_function/);
});
