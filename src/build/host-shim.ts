/**
 * Two small core modules that break a cycle: imported functions need the memory of the module, which does not exist before
 * its imports. The first module exports shims that call through a table; the second fills the table with the real functions.
 *
 * @module
 */
import { list, name, section, signed, sized, u32, type Bytes } from './binary.ts';
import type { CoreSignature, CoreType } from './wit/core-signature.ts';

export const TABLE = '$imports';
const PREAMBLE: Bytes = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const VALUE_TYPES = { i32: 0x7f, i64: 0x7e };
const FUNCREF = 0x70;

/** Exports `0`, `1`, … with these signatures, and the table they call through. */
export function shimModule(signatures: readonly CoreSignature[]): Uint8Array {
  const exports = signatures.map((_, at) => [...name(String(at)), 0x00, ...u32(at)]);
  return Uint8Array.from([
    ...PREAMBLE,
    ...section(1, signatures.map(typeOf)),
    ...section(
      3,
      signatures.map((_, at) => u32(at)),
    ),
    ...section(4, [tableOf(signatures.length)]),
    ...section(7, [...exports, [...name(TABLE), 0x01, 0x00]]),
    ...section(10, signatures.map(callThroughTable)),
  ]);
}

/** Imports the table and the real functions, and stores the functions in the table. */
export function fixupModule(signatures: readonly CoreSignature[]): Uint8Array {
  const functions = signatures.map((_, at) => [...name(''), ...name(String(at)), 0x00, ...u32(at)]);
  const indices = signatures.map((_, at) => u32(at));
  return Uint8Array.from([
    ...PREAMBLE,
    ...section(1, signatures.map(typeOf)),
    ...section(2, [...functions, [...name(''), ...name(TABLE), 0x01, ...tableOf(signatures.length)]]),
    ...sized(9, list([[0x00, 0x41, 0x00, 0x0b, ...list(indices)]])),
  ]);
}

function typeOf({ params, results }: CoreSignature): Bytes {
  return [0x60, ...valueTypes(params), ...valueTypes(results)];
}

function valueTypes(types: readonly CoreType[]): Bytes {
  return list(types.map((type) => [VALUE_TYPES[type]]));
}

function tableOf(size: number): Bytes {
  return [FUNCREF, 0x01, ...u32(size), ...u32(size)];
}

/** Pushes all parameters and the index, then `call_indirect` on table 0. */
function callThroughTable({ params }: CoreSignature, at: number): Bytes {
  const gets = params.flatMap((_, param) => [0x20, ...u32(param)]);
  const body = [0x00, ...gets, 0x41, ...signed(at), 0x11, ...u32(at), 0x00, 0x0b];
  return [...u32(body.length), ...body];
}
