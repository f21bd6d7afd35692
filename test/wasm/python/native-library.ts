/**
 * A native library as an Emscripten compiler would build it, written by hand: an extension module `native_counter`
 * with its own variables, functions of several arities, and one that overwrites memory.
 *
 * @module
 */
import { MODULE_HEADER } from '../../../guest/wasm/binary/core-module.ts';
import { Writer } from '../../../guest/wasm/install/writer.ts';
import { wat } from '../binary/support.ts';

export interface LibraryOptions {
  /** More imports, before everything that is defined. */
  imports?: string;
  /** More definitions, e.g. a function that does something. */
  fields?: string;
  memoryBytes?: number;
  tableSlots?: number;
  needed?: string[];
}

const MEMORY_BYTES = 256;
const TABLE_SLOTS = 3;

export function nativeLibrary(options: LibraryOptions = {}): Uint8Array {
  const { memoryBytes = MEMORY_BYTES, tableSlots = TABLE_SLOTS, needed = [] } = options;
  return withDylink(wat(counterModule(options)), (section) => {
    part(section, 1, (space) => {
      for (const value of [memoryBytes, 4, tableSlots, 0]) space.u32(value);
    });
    part(section, 2, (names) => {
      names.u32(needed.length);
      for (const name of needed) names.name(name);
    });
  });
}

/** Puts the section first, where a loader looks for it. */
export function withDylink(module: Uint8Array, fill: (section: Writer) => void): Uint8Array {
  const section = new Writer();
  section.name('dylink.0');
  fill(section);
  const out = new Writer();
  out.bytes(MODULE_HEADER);
  out.byte(0);
  out.u32(section.length);
  out.bytes(section.view);
  out.bytes(module.subarray(MODULE_HEADER.length));
  return out.view.slice();
}

function part(section: Writer, id: number, fill: (part: Writer) => void): void {
  const body = new Writer();
  fill(body);
  section.byte(id);
  section.u32(body.length);
  section.bytes(body.view);
}

/**
 * Data, from the base: 0 the name of the module, 16 and 32 and 48 names of functions, 64 the PyModuleDef (name at +20,
 * size at +28, methods at +32), 128 four PyMethodDef of 16 bytes (name, function, flags), 192 the counter.
 */
function counterModule({ imports = '', fields = '' }: LibraryOptions): string {
  return `(module
    (import "env" "memory" (memory 1))
    (import "env" "__indirect_function_table" (table 1 funcref))
    (import "env" "__stack_pointer" (global $stack (mut i32)))
    (import "env" "__memory_base" (global $memory i32))
    (import "env" "__table_base" (global $table i32))
    (import "GOT.mem" "PyExc_ValueError" (global $error (mut i32)))
    (import "GOT.func" "PyObject_GenericGetAttr" (global $generic (mut i32)))
    (import "env" "PyModule_Create2" (func $create (param i32 i32) (result i32)))
    (import "env" "PyLong_FromLong" (func $long (param i32) (result i32)))
    (import "env" "PyLong_AsLong" (func $number (param i32) (result i32)))
    (import "env" "PyErr_SetNone" (func $raise (param i32)))
    ${imports}
    (func $at (param i32) (result i32) (i32.add (global.get $memory) (local.get 0)))
    (func $bump (param i32 i32) (result i32)
      (i32.store (call $at (i32.const 192))
        (i32.add (i32.load (call $at (i32.const 192))) (i32.const 1)))
      (call $long (i32.load (call $at (i32.const 192)))))
    ;; One parameter where C code declares two: the engine has to know the arity.
    (func $refuse (param i32) (result i32)
      (call $raise (i32.load (global.get $error)))
      (i32.const 0))
    ;; Fills everything from the address on.
    (func $smash (param i32 i32) (result i32)
      (local $from i32)
      (local.set $from (call $number (local.get 1)))
      (memory.fill (local.get $from) (i32.const 0x41)
        (i32.sub (i32.mul (memory.size) (i32.const 65536)) (local.get $from)))
      (call $long (i32.const 0)))
    (func (export "PyInit_native_counter") (result i32)
      (call $create (call $at (i32.const 64)) (i32.const 1013)))
    (func $method (param $place i32) (param $name i32) (param $slot i32)
      (i32.store (call $at (local.get $place)) (call $at (local.get $name)))
      (i32.store offset=4 (call $at (local.get $place))
        (i32.add (global.get $table) (local.get $slot))))
    (func (export "__wasm_apply_data_relocs")
      (i32.store (call $at (i32.const 84)) (call $at (i32.const 0)))
      (i32.store (call $at (i32.const 96)) (call $at (i32.const 128)))
      (call $method (i32.const 128) (i32.const 16) (i32.const 0))
      (call $method (i32.const 144) (i32.const 32) (i32.const 1))
      (call $method (i32.const 160) (i32.const 48) (i32.const 2)))
    (func (export "__wasm_call_ctors")
      (i32.store (call $at (i32.const 192)) (i32.const 40)))
    (func (export "address_of_generic") (result i32) (global.get $generic))
    ${fields}
    (elem (offset (global.get $table)) func $bump $refuse $smash)
    (data (offset (global.get $memory)) "native_counter\\00\\00bump\\00")
    (data (offset (i32.add (global.get $memory) (i32.const 32))) "refuse\\00")
    (data (offset (i32.add (global.get $memory) (i32.const 48))) "smash\\00")
    (data (offset (i32.add (global.get $memory) (i32.const 64))) "\\01")
    (data (offset (i32.add (global.get $memory) (i32.const 92))) "\\ff\\ff\\ff\\ff")
    (data (offset (i32.add (global.get $memory) (i32.const 136))) "\\04")
    (data (offset (i32.add (global.get $memory) (i32.const 152))) "\\04")
    (data (offset (i32.add (global.get $memory) (i32.const 168))) "\\08"))`;
}
