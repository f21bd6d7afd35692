import { describe, expect, test } from 'vitest';
import { CAPS } from '../../../guest/wasm/install/caps.ts';
import { rewriteModule } from '../../../guest/wasm/install/rewrite.ts';
import { list, parseModule, refusal, section, str, wat, type Bytes } from './support.ts';

const HEADER: Bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

function raw(...sections: readonly Bytes[]): Uint8Array {
  return Uint8Array.from([...HEADER, ...sections.flat()]);
}

function rewriting(bytes: Uint8Array): () => unknown {
  return () => rewriteModule(parseModule(bytes), { maxPages: 16, takenNames: new Set() });
}

/** A module with one function of type () -> () and these instructions. */
function withBody(instructions: readonly number[]): Uint8Array {
  const body = [0, ...instructions, 0x0b];
  return raw(list(1, [0x60, 0, 0]), list(3, [0]), list(5, [0, 1]), list(10, section(0, body).slice(1)));
}

describe('a parsed module', () => {
  const module = parseModule(
    wat(`(module
      (import "env" "__proto__" (func (param i32)))
      (import "env" "base" (global i32))
      (table 3 10 funcref) (memory 1 5)
      (tag (param i32))
      (global (mut i32) (i32.const 1))
      (func (export "run") (result i32) (i32.const 1))
      (func $start) (start $start)
      (elem (i32.const 0) func 1) (data (i32.const 0) "abc") (data "passive"))`),
  );

  test('includes imports in its counts', () => {
    expect(module.spaces).toEqual({ type: 3, func: 3, table: 1, memory: 1, global: 2, tag: 1 });
  });

  test('keeps names unchanged', () => {
    expect(module.imports.map((item) => item.name)).toEqual(['__proto__', 'base']);
    expect(module.exports).toEqual([{ name: 'run', kind: 'func', index: 1 }]);
  });

  test('has its limits, segments and start function', () => {
    expect(module.tables[0]?.limits).toMatchObject({ min: 3, max: 10 });
    expect(module.memories[0]).toMatchObject({ min: 1, max: 5 });
    expect(module).toMatchObject({ startFunction: 2, elementSegments: 1, dataSegments: 2 });
  });
});

describe('a refusal names the feature that cannot be metered:', () => {
  test.each([
    ['shared memory', '(module (memory 1 1 shared))', /threads/],
    ['memory64', '(module (memory i64 1))', /memory64/],
    ['two memories', '(module (memory 1) (memory 1))', /multi-memory/],
    ['atomics', '(module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))', /threads and atomics/],
    [
      'relaxed SIMD',
      '(module (func (param v128) (drop (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))))',
      /relaxed/,
    ],
    ['a large table', `(module (table ${CAPS.tableEntries + 1} funcref))`, /larger than/],
    ['nine tables', `(module ${'(table 1 funcref)'.repeat(9)})`, /at most 8|maximum of 8/],
  ])('%s', (_, text, message) => {
    expect(refusal(rewriting(wat(text))).message).toMatch(message);
  });

  test.each([
    ['garbage collection', [0xfb, 0x00, 0x00], /garbage collection/],
    ['typed references', [0x14, 0x00], /typed function references/],
    ['an unknown instruction', [0x27], /the instruction is unknown/],
    ['an unknown bulk instruction', [0xfc, 0x30], /the instruction is unknown/],
    ['another memory', [0x41, 0, 0x28, 0x40, 0, 0, 0x1a], /multi-memory/],
    ['the fuel counter', [0x23, 0, 0x1a], /no global 0/],
    ['a missing local', [0x20, 0, 0x1a], /no local 0/],
    ['a missing label', [0x0c, 1], /no label 1/],
    ['a missing function', [0x10, 1], /no function 1/],
  ])('%s', (_, instructions, message) => {
    const error = refusal(rewriting(withBody(instructions)));
    expect(error.message).toMatch(message);
    expect(error.offset).toBeGreaterThan(20);
  });

  test('garbage-collected types', () => {
    expect(refusal(() => parseModule(raw(list(1, [0x5f, 0])))).message).toContain('Garbage-collected');
    expect(refusal(() => parseModule(raw(list(1, [0x60, 1, 0x64, 0x70, 0])))).message).toContain(
      'Typed references',
    );
  });
});

describe('the sections of a module', () => {
  test.each([
    ['duplicate', [list(1), list(1)], 'out of order or occurs twice', 11],
    ['out of order', [list(3), list(1)], 'out of order or occurs twice', 11],
    ['unknown', [section(14, [])], 'Section 14 is unknown', 8],
    ['too long', [section(1, [0, 0])], 'bytes too many', 11],
    ['longer than the file', [[1, 9, 0]], 'fewer follow', 10],
    ['without bodies', [list(1, [0x60, 0, 0]), list(3, [0])], 'have a body', undefined],
    ['with an unknown type', [list(3, [0])], 'no type 0', undefined],
    [
      'with two equal exports',
      [list(5, [0, 1]), list(7, [...str('a'), 2, 0], [...str('a'), 2, 0])],
      'same name',
      undefined,
    ],
    ['with an export that does not exist', [list(7, [...str('a'), 0, 0])], 'no func 0', undefined],
    ['with a wrong data count', [section(12, [1])], 'are declared', undefined],
    [
      'with a start function that takes values',
      [list(1, [0x60, 1, 0x7f, 0]), list(3, [0]), section(8, [0])],
      'start function',
      undefined,
    ],
  ])('are refused: %s', (...[, sections, message, offset]) => {
    const error = refusal(() => parseModule(raw(...sections)));
    expect(error.message).toContain(message);
    if (offset !== undefined) expect(error.offset).toBe(offset);
  });

  test('may include custom sections anywhere', () => {
    expect(parseModule(raw(section(0, str('x')), list(1), section(0, str('name')))).sections).toHaveLength(1);
  });
});

describe('a compile bomb is refused:', () => {
  test('one function of several megabytes', () => {
    const nops = Array.from({ length: CAPS.bodyBytes }, () => 0x01);
    expect(refusal(rewriting(withBody(nops))).message).toContain('larger than the maximum of 1048576');
  });

  test('twenty thousand locals in a few bytes', () => {
    const body: Bytes = [1, 0xa0, 0x9c, 0x01, 0x7f, 0x0b];
    const bytes = raw(list(1, [0x60, 0, 0]), list(3, [0]), list(10, [body.length, ...body]));
    expect(refusal(rewriting(bytes)).message).toContain('20000 locals');
  });

  test('endlessly nested blocks', () => {
    const blocks = Array.from({ length: CAPS.nesting + 1 }, () => [0x02, 0x40]).flat();
    expect(refusal(rewriting(withBody(blocks))).message).toContain('nested deeper');
  });

  test('loops that grow too large when they are metered', () => {
    const loops = Array.from({ length: 340_000 }, () => [0x03, 0x40, 0x0b]).flat();
    expect(refusal(rewriting(withBody(loops))).message).toContain('too many branches');
  });
});

test('a truncated module is refused, and nothing else is thrown', () => {
  const bytes = wat(
    '(module (import "a" "b" (func)) (memory 1) (func (export "x") (loop (br 0))) (data (i32.const 0) "abc"))',
  );
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.slice(0, length);
    // A cut between two sections leaves a smaller module that may be complete.
    if (WebAssembly.validate(cut)) continue;
    expect(refusal(rewriting(cut)).offset).toBeLessThanOrEqual(length);
  }
});
