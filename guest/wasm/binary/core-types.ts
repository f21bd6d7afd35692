/**
 * Small parts of a core module: value types, limits and constant expressions.
 *
 * @module
 */
import { CAPS } from '../install/caps.ts';
import type { Reader } from './reader.ts';

export type CoreKind = 'func' | 'table' | 'memory' | 'global' | 'tag';

export const CORE_KINDS: readonly CoreKind[] = ['func', 'table', 'memory', 'global', 'tag'];

export interface FuncType {
  /** Encoded types, one byte each. */
  params: Uint8Array;
  results: Uint8Array;
}

export interface Limits {
  min: number;
  max: number | undefined;
  offset: number;
}

export interface TableType {
  element: number;
  limits: Limits;
}

/** Number of definitions of each kind so far, imports included. */
export type IndexSpaces = Record<CoreKind | 'type', number>;

const REFERENCE_TYPES: ReadonlySet<number> = new Set([0x70, 0x6f, 0x69]);
const VALUE_TYPES: ReadonlySet<number> = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, ...REFERENCE_TYPES]);

export function isValueType(byte: number): boolean {
  return VALUE_TYPES.has(byte);
}

export function readValueType(reader: Reader): number {
  return readTypeOf(reader, VALUE_TYPES);
}

export function readReferenceType(reader: Reader): number {
  return readTypeOf(reader, REFERENCE_TYPES);
}

function readTypeOf(reader: Reader, allowed: ReadonlySet<number>): number {
  const offset = reader.position;
  const type = reader.byte();
  if (allowed.has(type)) return type;
  if (type === 0x63 || type === 0x64 || (type >= 0x65 && type <= 0x75)) {
    reader.fail('Typed references and garbage collection are not allowed', offset);
  }
  return reader.fail(`0x${type.toString(16)} is not a value type that is allowed here`, offset);
}

export function readFuncType(reader: Reader): FuncType {
  const offset = reader.position;
  const form = reader.byte();
  if (form >= 0x4e && form <= 0x5f) reader.fail('Garbage-collected types are not allowed', offset);
  if (form !== 0x60) reader.fail(`0x${form.toString(16)} is not the start of a function type`, offset);
  return { params: readValueTypes(reader, CAPS.params), results: readValueTypes(reader, CAPS.results) };
}

function readValueTypes(reader: Reader, cap: number): Uint8Array {
  const count = reader.count(cap, 'values of a function type');
  const start = reader.position;
  for (let index = 0; index < count; index++) readValueType(reader);
  return reader.bytes.subarray(start, reader.position);
}

export function readTableType(reader: Reader): TableType {
  if (reader.peek() === 0x40) reader.fail('Tables with an initial value are not allowed');
  const element = readReferenceType(reader);
  const limits = readLimits(reader, 'table');
  if (limits.min > CAPS.tableEntries) {
    reader.fail(
      `A table of ${limits.min} entries is larger than the maximum of ${CAPS.tableEntries}`,
      limits.offset,
    );
  }
  return { element, limits };
}

export function readLimits(reader: Reader, what: 'table' | 'memory'): Limits {
  const offset = reader.position;
  const flags = reader.byte();
  if (flags > 0x0f) reader.fail(`The limits of a ${what} have unknown flags`, offset);
  if (flags & 0x08) reader.fail('Custom page sizes are not allowed', offset);
  if (flags & 0x04) reader.fail(`A 64-bit ${what} is not allowed (memory64)`, offset);
  if (flags & 0x02) reader.fail(`A shared ${what} is not allowed (threads)`, offset);
  const min = reader.u32();
  const max = flags & 1 ? reader.u32() : undefined;
  if (max !== undefined && max < min) reader.fail(`The maximum of a ${what} is below its minimum`, offset);
  if (what === 'memory' && Math.max(min, max ?? 0) > 65_536)
    reader.fail('A memory is larger than 4 GiB', offset);
  return { min, max, offset };
}

export interface GlobalType {
  /** As encoded in the binary. */
  valueType: number;
  mutable: boolean;
}

export function readGlobalType(reader: Reader): GlobalType {
  const valueType = readValueType(reader);
  const mutability = reader.byte();
  if (mutability & 0x02) reader.fail('Shared globals are not allowed (threads)', reader.position - 1);
  if (mutability > 1) reader.fail('The mutability of a global is neither 0 nor 1', reader.position - 1);
  return { valueType, mutable: mutability === 1 };
}

export function readTagType(reader: Reader, types: number): number {
  if (reader.byte() !== 0) reader.fail('A tag is not an exception', reader.position - 1);
  return reader.index(types, 'type');
}

/** `ref.null` has an operand: the type of the null reference. */
export function readHeapType(reader: Reader): void {
  readReferenceType(reader);
}

/** Reads a constant expression up to its `end`. The engine checks types; indices are checked here. */
export function readConstant(reader: Reader, spaces: IndexSpaces): void {
  for (let count = 0; count <= CAPS.constantInstructions; count++) {
    if (readConstantInstruction(reader, spaces) === 'end') return;
  }
  reader.fail(`A constant expression has more than ${CAPS.constantInstructions} instructions`);
}

function readConstantInstruction(reader: Reader, spaces: IndexSpaces): 'end' | 'more' {
  const offset = reader.position;
  const opcode = reader.byte();
  if (opcode === 0x0b) return 'end';
  if (opcode === 0x41) reader.signed(32);
  else if (opcode === 0x42) reader.skipS64();
  else if (opcode === 0x43) reader.skip(4);
  else if (opcode === 0x44) reader.skip(8);
  else if (opcode === 0x23) reader.index(spaces.global, 'global');
  else if (opcode === 0xd0) readHeapType(reader);
  else if (opcode === 0xd2) reader.index(spaces.func, 'function');
  else if (opcode === 0xfd && reader.u32() === 12) reader.skip(16);
  else if (!(opcode >= 0x6a && opcode <= 0x6c) && !(opcode >= 0x7c && opcode <= 0x7e)) {
    reader.fail(`Instruction 0x${opcode.toString(16)} is not constant`, offset);
  }
  return 'more';
}
