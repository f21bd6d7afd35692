/**
 * Reads function bodies instruction by instruction, as far as needed to find what they can change.
 *
 * @module
 */
import { BULK, featureOf, IMMEDIATE, PLAIN, SIMD } from '../../binary/opcodes.ts';
import { isValueType, readHeapType, readValueType } from '../../binary/core-types.ts';
import type { Reader } from '../../binary/reader.ts';

/** The relevant instructions: they change something other than the memory, they call, or they are constant. */
export const OPCODE = {
  end: 0x0b,
  call: 0x10,
  tailCall: 0x12,
  globalGet: 0x23,
  globalSet: 0x24,
  tableSet: 0x26,
  memoryGrow: 0x40,
  i32Constant: 0x41,
  i32Add: 0x6a,
  memoryInit: 0xfc08,
  dataDrop: 0xfc09,
  memoryFill: 0xfc0b,
  tableInit: 0xfc0c,
  elementDrop: 0xfc0d,
  tableCopy: 0xfc0e,
  tableGrow: 0xfc0f,
  tableFill: 0xfc11,
} as const;

/** The opcode, with its prefix as the upper byte, its first and second index operand, and where it is. */
export interface Instruction {
  opcode: number;
  first: number;
  second: number;
  from: number;
}

/** Calls `visit` for every instruction of a body; its argument is reused for the next one. */
export function readBody(body: Reader, visit: (instruction: Instruction) => void): void {
  for (let groups = body.u32(); groups > 0; groups--) {
    body.u32();
    readValueType(body);
  }
  const instruction: Instruction = { opcode: 0, first: 0, second: 0, from: 0 };
  while (!body.done) {
    readInstruction(body, instruction);
    visit(instruction);
  }
}

function readInstruction(body: Reader, into: Instruction): void {
  const at = body.position;
  const first = body.byte();
  const isPrefixed = first === 0xfc || first === 0xfd;
  const code = isPrefixed ? body.u32() : first;
  const table = first === 0xfc ? BULK : first === 0xfd ? SIMD : PLAIN;
  const kind = table.immediates[code] ?? IMMEDIATE.refused;
  if (kind === IMMEDIATE.refused) body.fail(featureOf(first >= 0xe0 ? first : 0, code), at);
  into.from = at;
  into.opcode = isPrefixed ? first * 0x100 + code : code;
  readImmediate(body, kind, into);
}

function readImmediate(body: Reader, kind: number, into: Instruction): void {
  const bytes = FIXED_BYTES.get(kind);
  if (bytes !== undefined) return body.skip(bytes);
  switch (kind) {
    case IMMEDIATE.block:
      return readBlockType(body);
    case IMMEDIATE.heapType:
      return readHeapType(body);
    case IMMEDIATE.i32:
      return void body.signed(32);
    case IMMEDIATE.i64:
      return body.skipS64();
    case IMMEDIATE.branchTable:
      for (let left = body.u32(); left >= 0; left--) body.u32();
      return undefined;
    case IMMEDIATE.selectTypes:
      for (let left = body.u32(); left > 0; left--) readValueType(body);
      return undefined;
    case IMMEDIATE.tryTable:
      return skipTryTable(body);
    default:
      into.first = body.u32();
      if (TWO_NUMBERS.has(kind)) into.second = body.u32();
      if (namesAnotherMemory(kind, into)) body.fail('More than one memory is not allowed', into.from);
      return kind === IMMEDIATE.memargLane ? body.skip(1) : undefined;
  }
}

const FIXED_BYTES: ReadonlyMap<number, number> = new Map([
  [IMMEDIATE.none, 0],
  [IMMEDIATE.four, 4],
  [IMMEDIATE.eight, 8],
  [IMMEDIATE.sixteen, 16],
  [IMMEDIATE.lane, 1],
]);

/** In the alignment of a memory operand: the index of a memory follows, so that everything after it would be misread. */
const NAMES_MEMORY = 0x40;

const NO_RESULT = 0x40;

function namesAnotherMemory(kind: number, { first, second }: Instruction): boolean {
  if (kind === IMMEDIATE.memarg || kind === IMMEDIATE.memargLane) return (first & NAMES_MEMORY) !== 0;
  if (kind === IMMEDIATE.memory) return first !== 0;
  if (kind === IMMEDIATE.memoryCopy) return first !== 0 || second !== 0;
  return kind === IMMEDIATE.memoryInit && second !== 0;
}

const TWO_NUMBERS: ReadonlySet<number> = new Set([
  IMMEDIATE.memarg,
  IMMEDIATE.memargLane,
  IMMEDIATE.callIndirect,
  IMMEDIATE.memoryCopy,
  IMMEDIATE.memoryInit,
  IMMEDIATE.tableInit,
  IMMEDIATE.tableCopy,
]);

/** Other types of references take more bytes, so that everything after them would be misread. */
function readBlockType(body: Reader): void {
  const next = body.peek();
  if (next === NO_RESULT || isValueType(next)) return body.skip(1);
  if (body.signed(33) < 0) body.fail('The type of a block is not allowed');
}

function skipTryTable(body: Reader): void {
  readBlockType(body);
  for (let left = body.u32(); left > 0; left--) {
    if (body.byte() < 2) body.u32();
    body.u32();
  }
}
