/**
 * Two small core modules that untie a knot: the functions that a module imports need its memory, and it has none
 * before it has its imports. The first module stands in for the functions and calls through a table, the second
 * fills the table when the real ones exist.
 *
 * @module
 */
import { list, name, section, sized, u32, type Bytes } from './binary.ts';

export const TABLE = '$imports';
const PREAMBLE: Bytes = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const I32 = 0x7f;
const FUNCREF = 0x70;

/** Exports `0`, `1`, … with so many i32 as parameters, and the table that they call through. */
export function shimModule(paramCounts: readonly number[]): Uint8Array {
  const exports = paramCounts.map((_, at) => [...name(String(at)), 0x00, at]);
  return Uint8Array.from([
    ...PREAMBLE,
    ...section(1, paramCounts.map(typeOf)),
    ...section(
      3,
      paramCounts.map((_, at) => [at]),
    ),
    ...section(4, [tableOf(paramCounts.length)]),
    ...section(7, [...exports, [...name(TABLE), 0x01, 0x00]]),
    ...section(10, paramCounts.map(callThroughTable)),
  ]);
}

/** Imports the table and the real functions, and puts these into it. */
export function fixupModule(paramCounts: readonly number[]): Uint8Array {
  const functions = paramCounts.map((_, at) => [...name(''), ...name(String(at)), 0x00, at]);
  const indices = paramCounts.map((_, at) => u32(at));
  return Uint8Array.from([
    ...PREAMBLE,
    ...section(1, paramCounts.map(typeOf)),
    ...section(2, [...functions, [...name(''), ...name(TABLE), 0x01, ...tableOf(paramCounts.length)]]),
    ...sized(9, list([[0x00, 0x41, 0x00, 0x0b, ...list(indices)]])),
  ]);
}

function typeOf(params: number): Bytes {
  return [0x60, ...list(Array.from({ length: params }, () => [I32])), 0x00];
}

function tableOf(size: number): Bytes {
  return [FUNCREF, 0x01, ...u32(size), ...u32(size)];
}

/** Every parameter, then the index, then `call_indirect` with its type on table 0. */
function callThroughTable(params: number, at: number): Bytes {
  const gets = Array.from({ length: params }, (_, param) => [0x20, ...u32(param)]).flat();
  const body = [0x00, ...gets, 0x41, ...u32(at), 0x11, ...u32(at), 0x00, 0x0b];
  return [...u32(body.length), ...body];
}
