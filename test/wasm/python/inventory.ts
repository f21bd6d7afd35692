/**
 * Takes the engine's module apart, as far as its mutable state goes: which globals and tables can change, and by what.
 *
 * @module
 */
import { IMMEDIATE, BULK, PLAIN, SIMD } from '../../../guest/wasm/binary/opcodes.ts';
import { Reader } from '../../../guest/wasm/binary/reader.ts';

const NAME_BYTES = 4096;

export interface Inventory {
  importedFunctions: number;
  /** Index of every function in the function table. */
  tableEntries: number[];
  exports: Map<string, { kind: number; index: number }>;
  /** Index → is it mutable; imported ones included. */
  globals: boolean[];
  importedGlobals: number;
  tables: number;
  memories: number;
  passiveData: number;
  startFunction: boolean;
  /** Global → functions that set it. */
  writers: Map<number, Set<number>>;
  memoryGrow: number;
  /** Table → functions that change it. */
  tableWriters: Map<number, Set<number>>;
  /** Function → functions that it calls directly. */
  callers: Map<number, Set<number>>;
}

export function takeInventory(bytes: Uint8Array): Inventory {
  const found: Inventory = {
    importedFunctions: 0,
    tableEntries: [],
    exports: new Map(),
    globals: [],
    importedGlobals: 0,
    tables: 0,
    memories: 0,
    passiveData: 0,
    startFunction: false,
    writers: new Map(),
    memoryGrow: 0,
    tableWriters: new Map(),
    callers: new Map(),
  };
  const reader = new Reader(bytes, 8);
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    SECTIONS[id]?.(section, found);
  }
  return found;
}

const SECTIONS: Record<number, (section: Reader, found: Inventory) => void> = {
  2: readImports,
  4: (section, found) => (found.tables += section.u32()),
  5: (section, found) => (found.memories += section.u32()),
  6: readGlobals,
  7: readExports,
  8: (_, found) => (found.startFunction = true),
  9: readElements,
  10: readCode,
  11: readData,
};

function readImports(section: Reader, found: Inventory): void {
  for (let left = section.u32(); left > 0; left--) {
    section.name(NAME_BYTES);
    section.name(NAME_BYTES);
    const kind = section.byte();
    if (kind === 0) {
      section.u32();
      found.importedFunctions++;
    } else if (kind === 3) {
      section.byte();
      found.globals.push(section.byte() === 1);
      found.importedGlobals++;
    } else section.fail(`An import of kind ${kind}`);
  }
}

function readGlobals(section: Reader, found: Inventory): void {
  for (let left = section.u32(); left > 0; left--) {
    section.byte();
    found.globals.push(section.byte() === 1);
    for (let opcode = section.byte(); opcode !== 0x0b; opcode = section.byte())
      skipImmediate(section, PLAIN.immediates[opcode] ?? 0);
  }
}

function readExports(section: Reader, found: Inventory): void {
  for (let left = section.u32(); left > 0; left--) {
    const name = section.name(NAME_BYTES);
    found.exports.set(name, { kind: section.byte(), index: section.u32() });
  }
}

function readElements(section: Reader, found: Inventory): void {
  for (let left = section.u32(); left > 0; left--) {
    if (section.u32() !== 0 || section.byte() !== 0x41) section.fail('A segment of another kind');
    section.signed(32);
    section.byte();
    for (let count = section.u32(); count > 0; count--) found.tableEntries.push(section.u32());
  }
}

function readData(section: Reader, found: Inventory): void {
  for (let left = section.u32(); left > 0; left--) {
    if (section.u32() === 0) {
      section.byte();
      section.signed(32);
      section.byte();
    } else found.passiveData++;
    section.skip(section.u32());
  }
}

function readCode(section: Reader, found: Inventory): void {
  const count = section.u32();
  for (let index = 0; index < count; index++) {
    const body = section.window(section.u32());
    for (let groups = body.u32(); groups > 0; groups--) {
      body.u32();
      body.byte();
    }
    while (!body.done) readInstruction(body, found.importedFunctions + index, found);
  }
}

const TABLE_CHANGES = new Map([
  [12, 1],
  [14, 0],
  [15, 0],
  [17, 0],
]);

function readInstruction(body: Reader, self: number, found: Inventory): void {
  const opcode = body.byte();
  if (opcode === 0xfc) return readBulk(body, self, found);
  if (opcode === 0xfd) return skipImmediate(body, SIMD.immediates[body.u32()] ?? 0);
  if (opcode === 0x24) return note(found.writers, body.u32(), self);
  if (opcode === 0x26) return note(found.tableWriters, body.u32(), self);
  if (opcode === 0x10 || opcode === 0x12) return note(found.callers, body.u32(), self);
  if (opcode === 0x40) found.memoryGrow++;
  return skipImmediate(body, PLAIN.immediates[opcode] ?? 0);
}

function readBulk(body: Reader, self: number, found: Inventory): void {
  const code = body.u32();
  const position = TABLE_CHANGES.get(code);
  if (position === undefined) return skipImmediate(body, BULK.immediates[code] ?? 0);
  const operands = code === 12 || code === 14 ? [body.u32(), body.u32()] : [body.u32()];
  return note(found.tableWriters, operands[position] ?? 0, self);
}

function note(map: Map<number, Set<number>>, key: number, value: number): void {
  map.set(key, (map.get(key) ?? new Set()).add(value));
}

function skipImmediate(body: Reader, kind: number): void {
  switch (kind) {
    case IMMEDIATE.none:
      return;
    case IMMEDIATE.block:
    case IMMEDIATE.heapType:
      return void body.signed(33);
    case IMMEDIATE.i32:
      return void body.signed(32);
    case IMMEDIATE.i64:
      return body.skipS64();
    case IMMEDIATE.four:
      return body.skip(4);
    case IMMEDIATE.eight:
      return body.skip(8);
    case IMMEDIATE.sixteen:
      return body.skip(16);
    case IMMEDIATE.lane:
      return body.skip(1);
    case IMMEDIATE.memarg:
    case IMMEDIATE.callIndirect:
    case IMMEDIATE.memoryCopy:
    case IMMEDIATE.memoryInit:
      body.u32();
      return void body.u32();
    case IMMEDIATE.memargLane:
      body.u32();
      body.u32();
      return body.skip(1);
    case IMMEDIATE.branchTable:
    case IMMEDIATE.selectTypes:
      for (let left = body.u32(); left > 0; left--) body.u32();
      return kind === IMMEDIATE.branchTable ? void body.u32() : undefined;
    case IMMEDIATE.tryTable:
      return skipTryTable(body);
    case IMMEDIATE.refused:
      return body.fail('An instruction that is not known');
    default:
      return void body.u32();
  }
}

function skipTryTable(body: Reader): void {
  body.signed(33);
  for (let left = body.u32(); left > 0; left--) {
    if (body.byte() < 2) body.u32();
    body.u32();
  }
}
