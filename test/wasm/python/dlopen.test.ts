/**
 * What a native library may contain and do before the engine accepts it, and where it is placed.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { findLibraries, loadLibraries } from '../../../guest/wasm/python/dlopen/files.ts';
import { readLibrary } from '../../../guest/wasm/python/dlopen/library.ts';
import { linkLibraries, linkTo, type Linked } from '../../../guest/wasm/python/dlopen/link.ts';
import { readShape } from '../../../guest/wasm/python/dlopen/shape.ts';
import { engineSymbols } from '../../../guest/wasm/python/dlopen/symbols.ts';
import { stackEnd } from '../../../guest/wasm/python/engine/boot.ts';
import { openFolder, removeFolder } from '../../write-skill.ts';
import { wat } from '../binary/support.ts';
import { nativeLibrary, type LibraryOptions } from './native-library.ts';

const engine = new Uint8Array(
  readFileSync(createRequire(import.meta.url).resolve('pyodide/pyodide.asm.wasm')),
);
const symbols = engineSymbols(readShape(engine));
const PATH = '/deps/native_counter.so';

function link(options: LibraryOptions = {}): Linked {
  return linkTo(symbols, new Map([[PATH, nativeLibrary(options)]]));
}

test('a library gets memory after the stack and slots after the trampoline', () => {
  const { code, engineExports } = link();
  const [library] = code.plan.libraries;
  const stack = stackEnd(symbols.variables.get('__stack_low') ?? 0);
  expect(library).toMatchObject({ memoryBase: stack, tableBase: symbols.tableSlots + 1, path: PATH });
  expect(code.plan.end).toBe(stack + 256);
  expect(code.plan.entryPoints[PATH]).toEqual({ PyInit_native_counter: symbols.tableSlots + 4 });
  expect(engineExports.toSorted()).toEqual([
    'PyErr_SetNone',
    'PyLong_AsLong',
    'PyLong_FromLong',
    'PyModule_Create2',
  ]);
});

test('a function of the engine keeps its address, because code compares addresses', () => {
  const slot = link().code.plan.libraries[0]?.slots['PyObject_GenericGetAttr'];
  expect(slot).toBe(symbols.slots.get(symbols.functions.get('PyObject_GenericGetAttr') ?? -1));
  expect(slot).toBeLessThan(symbols.tableSlots);
});

test('without libraries nothing is planned', () => {
  expect(linkLibraries(engine, new Map())).toBeUndefined();
});

test('a function that a library imports from itself is a stub that calls it through the table', () => {
  const imports = '(import "env" "twice" (func $twice (param i32 f64) (result f64)))';
  const fields = `(func (export "twice") (param i32 f64) (result f64) (f64.mul (local.get 1) (f64.const 2)))
    (func (export "four_times") (param f64) (result f64)
      (call $twice (i32.const 0) (call $twice (i32.const 0) (local.get 0))))`;
  const { code } = link({ imports, fields });
  const [own] = code.plan.libraries[0]?.own ?? [];
  expect(own).toMatchObject({ name: 'twice', params: [0x7f, 0x7c], results: [0x7c] });
  const table = new WebAssembly.Table({ element: 'anyfunc', initial: code.plan.tableSlots });
  const thunk = new WebAssembly.Instance(code.thunks[0] as WebAssembly.Module, { env: { table } }).exports[
    'twice'
  ];
  const real = wat(
    '(module (func (export "f") (param i32 f64) (result f64) (f64.mul (local.get 1) (f64.const 2))))',
  );
  table.set(
    own?.slot ?? 0,
    new WebAssembly.Instance(new WebAssembly.Module(real)).exports['f'] as CallableFunction,
  );
  expect((thunk as (first: number, second: number) => number)(1, 21)).toBe(42);
});

test('a library that exits gets the exit function of the engine', () => {
  const { engineExports } = link({ imports: '(import "env" "exit" (func (param i32)))' });
  expect(engineExports).toContain('_Exit');
});

test('constructors of the engine are never mistaken for those of a library', () => {
  const { code, engineExports } = link({ imports: '(import "env" "__wasm_call_ctors" (func))' });
  expect(code.plan.libraries[0]?.own).toHaveLength(1);
  expect(engineExports).not.toContain('__wasm_call_ctors');
});

const OWN_GLOBAL = '(global $own (mut i32) (i32.const 0))';
const ADDRESS = '(global.set $own (i32.add (global.get $memory) (i32.const 8)))';

test('a start function may set globals to addresses, as linkers generate it', () => {
  const start = `(func $start ${ADDRESS} (memory.fill (global.get $memory) (i32.const 0) (i32.const 0)))`;
  expect(link({ fields: `${OWN_GLOBAL} ${start} (start $start)` }).code.plan.libraries).toHaveLength(1);
});

const REFUSED: [string, LibraryOptions, RegExp][] = [
  ['grows the memory', { fields: '(func (drop (memory.grow (i32.const 1))))' }, /grows the memory/],
  [
    'changes the table',
    { fields: '(func $f (table.set (i32.const 5) (ref.func $f))) (elem declare func $f)' },
    /Only plain element segments/,
  ],
  ['clears the table', { fields: '(func (table.set (i32.const 5) (ref.null func)))' }, /function table/],
  ['grows the table', { fields: '(func (drop (table.grow (ref.null func) (i32.const 1))))' }, /table/],
  [
    'keeps a global',
    { fields: '(global $g (mut i32) (i32.const 0)) (func (global.set $g (i32.const 1)))' },
    /global/,
  ],
  [
    'sets an address that the loader provides',
    { fields: '(func (global.set $generic (i32.const 1)))' },
    /global/,
  ],
  [
    'sets a global in a function other than the start function',
    { fields: `${OWN_GLOBAL} (func ${ADDRESS})` },
    /global/,
  ],
  [
    'sets a global sometimes',
    {
      fields: `${OWN_GLOBAL} (func $start (if (i32.load (global.get $memory)) (then ${ADDRESS}))) (start $start)`,
    },
    /global/,
  ],
  [
    'sets a global to where the stack is',
    { fields: `${OWN_GLOBAL} (func $start (global.set $own (global.get $stack))) (start $start)` },
    /global/,
  ],
  [
    'sets an address of the loader at its start',
    { fields: '(func $start (global.set $error (i32.const 1))) (start $start)' },
    /global/,
  ],
  ['has another table', { fields: '(table 1 externref)' }, /its own table/],
  ['keeps a segment for later', { fields: '(data "later")' }, /plain data segments/],
  ['writes below its memory', { fields: '(data (offset (i32.const 1024)) "x")' }, /outside its own memory/],
  [
    'writes beyond its memory by a sum that ends in a small number',
    {
      fields: `(data (offset (i32.add (global.get $memory) (i32.add (i32.const 100000) (i32.const 0)))) "x")`,
    },
    /outside its own memory/,
  ],
  [
    'takes a foreign slot by a sum that ends in a small number',
    {
      fields: `(func $f)
        (elem (offset (i32.add (global.get $table) (i32.add (i32.const -9) (i32.const 0)))) func $f)`,
    },
    /outside its own slots/,
  ],
  [
    'adds up two bases',
    {
      fields: '(data (offset (i32.add (global.get $memory) (global.get $memory))) "x")',
    },
    /location of a data segment/,
  ],
  ['writes beyond its memory', { memoryBytes: 100 }, /outside its own memory/],
  [
    'takes a foreign slot',
    { fields: '(func $f) (elem (offset (i32.const 7)) func $f)' },
    /outside its own slots/,
  ],
  ['takes more slots than it declared', { tableSlots: 2 }, /outside its own slots/],
  ['requests all memory', { memoryBytes: 2 ** 31 }, /bytes of memory/],
  [
    'imports what the engine does not have',
    { imports: '(import "env" "dlopen_all" (func))' },
    /function dlopen_all/,
  ],
  [
    'wants a function of JavaScript',
    { imports: '(import "env" "_emscripten_system" (func))' },
    /_emscripten_system/,
  ],
  [
    'imports from another module',
    { imports: '(import "wasi_snapshot_preview1" "fd_write" (func))' },
    /fd_write/,
  ],
  [
    'wants to move the stack bounds',
    { imports: '(import "env" "emscripten_stack_set_limits" (func))' },
    /stack_set/,
  ],
  ['imports a function for references', { imports: '(import "env" "_hiwire_set" (func))' }, /_hiwire_set/],
  [
    'wants a variable that is not there',
    { imports: '(import "GOT.mem" "nothing" (global (mut i32)))' },
    /nothing/,
  ],
  ['needs another library', { needed: ['libother.so'] }, /libother.so, which is missing/],
  ['is for threads', { fields: '(func (atomic.fence))' }, /threads/],
];

test.each(REFUSED)('a library that %s is refused', (_, options, reason) => {
  expect(() => link(options)).toThrow(reason);
  expect(() => link(options)).toThrow(PATH);
});

test('libraries are sorted by dependency, and a cycle is refused', () => {
  const lonely = nativeLibrary();
  const needy = nativeLibrary({ needed: ['z.so'] });
  const linked = linkTo(
    symbols,
    new Map([
      ['/deps/a.so', needy],
      ['/deps/z.so', lonely],
    ]),
  );
  expect(linked.code.plan.libraries.map(({ path }) => path)).toEqual(['/deps/z.so', '/deps/a.so']);
  const circle = new Map([
    ['/deps/a.so', needy],
    ['/deps/z.so', nativeLibrary({ needed: ['a.so'] })],
  ]);
  expect(() => linkTo(symbols, circle)).toThrow(/is part of a cycle/);
});

test('a cell loads exactly the libraries that the plan was made for', () => {
  const folder = openFolder();
  onTestFinished(() => removeFolder(folder));
  const file = join(folder, 'native_counter.so');
  writeFileSync(file, nativeLibrary());
  const { plan } = linkTo(symbols, findLibraries(folder)).code;
  expect(loadLibraries(plan, folder).modules).toHaveLength(1);
  writeFileSync(file, nativeLibrary({ fields: '(func)' }));
  expect(() => loadLibraries(plan, folder)).toThrow(/not the library that was checked/);
});

test('a file that is not a library is refused', () => {
  expect(() => readLibrary('/deps/x.so', wat('(module)'))).toThrow(/no section dylink.0/);
  expect(() => readLibrary('/deps/x.so', new TextEncoder().encode('\x7fELF and more'))).toThrow('/deps/x.so');
});

test('a corrupted library is refused, and nothing else is thrown', () => {
  const whole = nativeLibrary();
  const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(whole.length), (changes, cut) => {
      const bytes = whole.slice();
      for (const { at, byte } of changes) bytes[at] = byte;
      for (const candidate of [bytes, bytes.slice(0, cut)]) {
        try {
          readLibrary(PATH, candidate);
        } catch (error) {
          expect(error).toMatchObject({ name: 'LinkError' });
        }
      }
    }),
  );
});

test('nothing is hidden behind an index of a memory, which would shift everything that is read after it', () => {
  // Patched, `0x44` is the offset of the load; read without the index, it is an f64.const with the rest as its number.
  const fields = `(func (export "hidden")
    (drop (i32.load8_u offset=8260 (i32.const 0))) (drop (memory.grow (i32.const 0))) nop nop)`;
  const plain = Buffer.from(nativeLibrary({ fields }));
  const at = plain.indexOf(Buffer.from([0x2d, 0, 0xc4, 0x40]));
  const patched = Buffer.concat([plain]);
  patched.set([0x2d, 0x40, 0, 0x44], at);
  expect(WebAssembly.validate(patched)).toBe(true);
  expect(() => readLibrary(PATH, plain)).toThrow(/grows the memory/);
  expect(() => readLibrary(PATH, patched)).toThrow(/More than one memory is not allowed/);
});

// In each, what grows the memory would be read as the targets of a br_table: 14 is its opcode, and a type here.
test.each([
  ['a block', [0, 0x02, 0x63, 14, 0x20, 0, 0x1a, 0x41, 0, 0x40, 0, 0x1a, 0xd0, 14, 0x0b, 0x1a]],
  ['a selection', [0, 0xd0, 14, 0xd0, 14, 0x41, 1, 0x1c, 1, 0x63, 14, 0x1a, 0x41, 0, 0x40, 0, 0x1a]],
  ['a local variable', [1, 1, 0x63, 14, 0x41, 0, 0x40, 0, 0x1a]],
])('nothing is hidden behind a longer type of %s', (_, code) => {
  const types = Array.from({ length: 16 }, (__, at) => `(type (func (param ${'f32 '.repeat(at + 3)})))`);
  const fields = `${types.join(' ')}
    (func (export "hidden") (param i32) (drop (i32.const 0x1234567)) ${'nop '.repeat(100)})`;
  const library = Buffer.from(nativeLibrary({ fields }));
  expect(() => readLibrary(PATH, library)).not.toThrow();
  // From the number of groups of local variables.
  library.set(code, library.indexOf(Buffer.from([0, 0x41, 0xe7, 0x8a, 0x8d, 0x09, 0x1a])));
  const marker = library.indexOf(Buffer.from([0x8d, 0x09, 0x1a]));
  if (marker >= 0) library.fill(1, marker, marker + 3);
  expect(WebAssembly.validate(library)).toBe(true);
  expect(() => readLibrary(PATH, library)).toThrow(/cannot be read/);
});
