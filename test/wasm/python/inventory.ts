/**
 * Disassembles the engine's module as far as its mutable state goes: which globals and tables can change, and by what.
 *
 * @module
 */
import { readConstant } from '../../../guest/wasm/binary/core-types.ts';
import { Reader } from '../../../guest/wasm/binary/reader.ts';
import { OPCODE, readBody, type Instruction } from '../../../guest/wasm/python/dlopen/instructions.ts';

const NAME_BYTES = 4096;
/** Indices are checked where it matters. */
const NO_LIMIT = { type: 1e9, func: 1e9, table: 1e9, memory: 1e9, global: 1e9, tag: 1e9 };

export interface Inventory {
  importedFunctions: number;
  /** Index of every function in the function table. */
  tableEntries: number[];
  exports: Map<string, { kind: number; index: number }>;
  /** Index → whether it is mutable; includes imported ones. */
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
    readConstant(section, NO_LIMIT);
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
    const self = found.importedFunctions + index;
    readBody(section.window(section.u32()), (instruction) => noteEffect(instruction, self, found));
  }
}

function noteEffect({ opcode, first, second }: Instruction, self: number, found: Inventory): void {
  if (opcode === OPCODE.globalSet) note(found.writers, first, self);
  else if (opcode === OPCODE.call || opcode === OPCODE.tailCall) note(found.callers, first, self);
  else if (opcode === OPCODE.memoryGrow) found.memoryGrow++;
  else if (opcode === OPCODE.tableInit) note(found.tableWriters, second, self);
  else if (TABLE_CHANGES.has(opcode)) note(found.tableWriters, first, self);
}

const TABLE_CHANGES: ReadonlySet<number> = new Set([
  OPCODE.tableSet,
  OPCODE.tableCopy,
  OPCODE.tableGrow,
  OPCODE.tableFill,
]);

function note(map: Map<number, Set<number>>, key: number, value: number): void {
  map.set(key, (map.get(key) ?? new Set()).add(value));
}
