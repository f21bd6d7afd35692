/**
 * CPython calls C functions of unknown arity through a trampoline. Pyodide's is JavaScript; ours is a few
 * Wasm instructions that look up the arity by the index of the function.
 *
 * @module
 */
import { Reader } from '../../binary/reader.ts';
import { MODULE_HEADER } from '../../binary/core-module.ts';
import { Writer } from '../../install/writer.ts';

const I32 = 0x7f;
const FUNC = 0x60;
const MAX_NAME_BYTES = 4096;
/** Marks a function that the trampoline cannot call: its parameters are not up to three i32. */
const OTHER = 4;
const MAX_ARITY = 3;

/** The number of parameters for every slot of the function table, or `OTHER`. */
export function tableArities(bytes: Uint8Array): number[] {
  const reader = new Reader(bytes, MODULE_HEADER.length);
  const arities: number[] = [];
  const functions: number[] = [];
  const table: number[] = [];
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    if (id === 1) readTypes(section, arities);
    else if (id === 2) readImports(section, functions);
    else if (id === 3) for (let left = section.u32(); left > 0; left--) functions.push(section.u32());
    else if (id === 9) readElements(section, table);
  }
  return Array.from(table, (index) =>
    index === undefined ? OTHER : (arities[functions[index] ?? -1] ?? OTHER),
  );
}

function readTypes(section: Reader, arities: number[]): void {
  for (let left = section.u32(); left > 0; left--) {
    if (section.byte() !== FUNC) section.fail('Only function types are expected');
    const params = Array.from({ length: section.u32() }, () => section.byte());
    const results = Array.from({ length: section.u32() }, () => section.byte());
    arities.push(plainArity(params, results));
  }
}

/** The number of parameters of this function type, or `OTHER`. */
export function plainArity(params: ArrayLike<number>, results: ArrayLike<number>): number {
  const isPlain = [...Array.from(params), ...Array.from(results)].every((type) => type === I32);
  return isPlain && params.length <= MAX_ARITY && results.length === 1 ? params.length : OTHER;
}

function readImports(section: Reader, functions: number[]): void {
  for (let left = section.u32(); left > 0; left--) {
    section.name(MAX_NAME_BYTES);
    section.name(MAX_NAME_BYTES);
    const kind = section.byte();
    if (kind === 0) functions.push(section.u32());
    else if (kind === 3) section.skip(2);
    else section.fail('Only functions and globals are expected as imports');
  }
}

function readElements(section: Reader, table: number[]): void {
  for (let left = section.u32(); left > 0; left--) {
    if (section.u32() !== 0 || section.byte() !== 0x41) section.fail('Only plain segments are expected');
    let slot = section.signed(32);
    if (section.byte() !== 0x0b) section.fail('Only constant offsets are expected');
    for (let count = section.u32(); count > 0; count--) table[slot++] = section.u32();
  }
}

/**
 * A module with one function `(ok, function, a, b, c) -> i32`. It stores 1 at `ok` and calls the table's function with
 * as many of a, b, c as it takes; for a function that it cannot call it stores 0.
 */
export function trampolineModule(arities: readonly number[]): Uint8Array {
  const writer = new Writer(64 * 1024);
  writer.bytes(MODULE_HEADER);
  section(writer, 1, typeSection);
  section(writer, 2, importSection);
  section(writer, 3, (out) => out.bytes([1, 4]));
  section(writer, 7, (out) => {
    out.u32(1);
    out.name('call');
    out.bytes([0, 0]);
  });
  section(writer, 10, (out) => codeSection(out, arities));
  return writer.view.slice();
}

function section(writer: Writer, id: number, fill: (out: Writer) => void): void {
  const body = new Writer();
  fill(body);
  writer.byte(id);
  writer.u32(body.length);
  writer.bytes(body.view);
}

/** Types 0 to 3 are functions with that many i32 parameters; type 4 is the trampoline's own. */
function typeSection(out: Writer): void {
  out.u32(5);
  for (const count of [0, 1, 2, 3, 5])
    out.bytes([FUNC, count, ...Array.from({ length: count }, () => I32), 1, I32]);
}

function importSection(out: Writer): void {
  out.u32(2);
  out.name('env');
  out.name('memory');
  out.bytes([2, 0, 1]);
  out.name('env');
  out.name('table');
  out.bytes([1, 0x70, 0, 1]);
}

function codeSection(out: Writer, arities: readonly number[]): void {
  const body = new Writer(arities.length + 256);
  const LOCAL_GET = 0x20;
  const store = (value: number): number[] => [LOCAL_GET, 0, 0x41, value, 0x36, 2, 0];
  // No locals; *ok = 1; five nested blocks; br_table leaves as many of them as the arity.
  body.bytes([0, ...store(1), ...Array.from({ length: 5 }, () => [0x02, 0x40]).flat(), LOCAL_GET, 1, 0x0e]);
  body.u32(arities.length);
  for (let slot = 0; slot < arities.length; slot++) body.u32(arities[slot] ?? OTHER);
  body.u32(OTHER);
  for (let arity = 0; arity <= MAX_ARITY; arity++) {
    const args = [2, 3, 4].slice(0, arity).flatMap((local) => [LOCAL_GET, local]);
    body.bytes([0x0b, ...args, LOCAL_GET, 1, 0x11, arity, 0, 0x0f]);
  }
  body.bytes([0x0b, ...store(0), 0x41, 0, 0x0b]);
  out.u32(1);
  out.u32(body.length);
  out.bytes(body.view);
}
