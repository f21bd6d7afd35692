/**
 * The instructions that a core module may contain, the operands of each, and their cost. Allowed is what the fuel pass
 * can meter: WebAssembly 2.0 with SIMD, tail calls and both kinds of exception handling.
 *
 * @module
 */

/** Operands that follow an opcode. `refused` is 0, so that entries without a value are refused. */
export const IMMEDIATE = {
  refused: 0,
  none: 1,
  block: 2,
  label: 3,
  branchTable: 4,
  func: 5,
  callIndirect: 6,
  local: 7,
  global: 8,
  table: 9,
  memarg: 10,
  memory: 11,
  i32: 12,
  i64: 13,
  four: 14,
  eight: 15,
  heapType: 16,
  selectTypes: 17,
  tag: 18,
  tryTable: 19,
  memoryInit: 20,
  memoryCopy: 21,
  data: 22,
  tableInit: 23,
  element: 24,
  tableCopy: 25,
  sixteen: 26,
  lane: 27,
  memargLane: 28,
} as const;

export type ImmediateName = keyof typeof IMMEDIATE;

/** Cost of instructions that cost more than 1 unit: measured, so that no unit lasts much longer than a nanosecond. */
export const COST = {
  /** Also pays for what a callee of at most `prepaid` does before it calls or loops; see `BodyScanner`. */
  call: 16,
  callIndirect: 16,
  /** Simple instructions take a third of a nanosecond: the price of a call covers this many. */
  prepaid: 30,
  divide: 4,
  bulk: 64,
  tableSet: 100,
  grow: 500,
  throw: 4_000,
} as const;

/** Unit of the length on top of the stack: 16 bytes cost 1 unit, a page 1, a table entry 16. */
export type LengthUnit = 'bytes' | 'pages' | 'entries';

export interface OpcodeTable {
  /** By opcode: a value of `IMMEDIATE`. */
  readonly immediates: Uint8Array;
  readonly costs: Uint16Array;
  /** By opcode: the unit of the length on top of the stack, for instructions whose time depends on it. */
  readonly lengths: readonly (LengthUnit | undefined)[];
}

interface Row {
  from: number;
  to?: number;
  takes: ImmediateName;
  cost?: number;
  length?: LengthUnit;
}

/** `end`, `else` and block starts cost nothing by themselves. */
const PLAIN_ROWS: readonly Row[] = [
  { from: 0x00, to: 0x01, takes: 'none' },
  { from: 0x02, takes: 'block', cost: 0 },
  { from: 0x03, to: 0x04, takes: 'block' },
  { from: 0x05, takes: 'none', cost: 0 },
  { from: 0x06, takes: 'block', cost: 0 },
  { from: 0x07, takes: 'tag', cost: 0 },
  { from: 0x08, takes: 'tag', cost: COST.throw },
  { from: 0x09, takes: 'label', cost: COST.throw },
  { from: 0x0a, takes: 'none', cost: COST.throw },
  { from: 0x0b, takes: 'none', cost: 0 },
  { from: 0x0c, to: 0x0d, takes: 'label' },
  { from: 0x0e, takes: 'branchTable', cost: 3 },
  { from: 0x0f, takes: 'none' },
  { from: 0x10, takes: 'func', cost: COST.call },
  { from: 0x11, takes: 'callIndirect', cost: COST.callIndirect },
  { from: 0x12, takes: 'func', cost: COST.call },
  { from: 0x13, takes: 'callIndirect', cost: COST.callIndirect },
  { from: 0x18, takes: 'label', cost: 0 },
  { from: 0x19, takes: 'none', cost: 0 },
  { from: 0x1a, to: 0x1b, takes: 'none' },
  { from: 0x1c, takes: 'selectTypes' },
  { from: 0x1f, takes: 'tryTable' },
  { from: 0x20, to: 0x22, takes: 'local' },
  { from: 0x23, to: 0x24, takes: 'global' },
  { from: 0x25, takes: 'table', cost: 2 },
  { from: 0x26, takes: 'table', cost: COST.tableSet },
  { from: 0x28, to: 0x3e, takes: 'memarg' },
  { from: 0x3f, takes: 'memory' },
  { from: 0x40, takes: 'memory', cost: COST.grow, length: 'pages' },
  { from: 0x41, takes: 'i32' },
  { from: 0x42, takes: 'i64' },
  { from: 0x43, takes: 'four' },
  { from: 0x44, takes: 'eight' },
  { from: 0x45, to: 0xc4, takes: 'none' },
  { from: 0x6d, to: 0x70, takes: 'none', cost: COST.divide },
  { from: 0x7f, to: 0x82, takes: 'none', cost: COST.divide },
  { from: 0xd0, takes: 'heapType' },
  { from: 0xd1, takes: 'none' },
  { from: 0xd2, takes: 'func', cost: 8 },
];

const BULK_ROWS: readonly Row[] = [
  { from: 0, to: 7, takes: 'none' },
  { from: 8, takes: 'memoryInit', cost: COST.bulk, length: 'bytes' },
  { from: 9, takes: 'data', cost: COST.bulk },
  { from: 10, takes: 'memoryCopy', cost: COST.bulk, length: 'bytes' },
  { from: 11, takes: 'memory', cost: COST.bulk, length: 'bytes' },
  { from: 12, takes: 'tableInit', cost: COST.bulk * 2, length: 'entries' },
  { from: 13, takes: 'element', cost: COST.bulk },
  { from: 14, takes: 'tableCopy', cost: COST.bulk * 2, length: 'entries' },
  { from: 15, takes: 'table', cost: COST.grow, length: 'entries' },
  { from: 16, takes: 'table' },
  { from: 17, takes: 'table', cost: COST.bulk * 2, length: 'entries' },
];

const SIMD_ROWS: readonly Row[] = [
  { from: 0, to: 11, takes: 'memarg' },
  { from: 12, to: 13, takes: 'sixteen' },
  { from: 14, to: 20, takes: 'none' },
  { from: 21, to: 34, takes: 'lane' },
  { from: 35, to: 83, takes: 'none' },
  { from: 84, to: 91, takes: 'memargLane' },
  { from: 92, to: 93, takes: 'memarg' },
  { from: 94, to: 153, takes: 'none' },
  { from: 155, to: 161, takes: 'none' },
  { from: 163, to: 164, takes: 'none' },
  { from: 167, to: 174, takes: 'none' },
  { from: 177, takes: 'none' },
  { from: 181, to: 186, takes: 'none' },
  { from: 188, to: 193, takes: 'none' },
  { from: 195, to: 196, takes: 'none' },
  { from: 199, to: 206, takes: 'none' },
  { from: 209, takes: 'none' },
  { from: 213, to: 225, takes: 'none' },
  { from: 227, to: 237, takes: 'none' },
  { from: 239, to: 255, takes: 'none' },
];

export const PLAIN: OpcodeTable = table(PLAIN_ROWS);
/** After prefix 0xfc. */
export const BULK: OpcodeTable = table(BULK_ROWS);
/** After prefix 0xfd. */
export const SIMD: OpcodeTable = table(SIMD_ROWS);

function table(rows: readonly Row[]): OpcodeTable {
  const immediates = new Uint8Array(256);
  const costs = new Uint16Array(256).fill(1);
  const lengths = Array.from({ length: 256 }, (): LengthUnit | undefined => undefined);
  for (const row of rows) {
    for (let opcode = row.from; opcode <= (row.to ?? row.from); opcode++) {
      immediates[opcode] = IMMEDIATE[row.takes];
      costs[opcode] = row.cost ?? 1;
      lengths[opcode] = row.length;
    }
  }
  return { immediates, costs, lengths };
}

/** The feature that a refused instruction belongs to, for the error message. */
export function featureOf(prefix: number, opcode: number): string {
  if (prefix === 0xfb) return 'garbage collection is not allowed';
  if (prefix === 0xfe) return 'threads and atomics are not allowed';
  if (prefix === 0xfd && opcode >= 256) return 'relaxed SIMD gives different results on different machines';
  if (prefix === 0xfc && opcode >= 19 && opcode <= 22) return 'wide arithmetic is not allowed';
  const typedReferences = [0x14, 0x15, 0xd3, 0xd4, 0xd5, 0xd6];
  if (prefix === 0 && typedReferences.includes(opcode)) return 'typed function references are not allowed';
  return 'the instruction is unknown';
}
