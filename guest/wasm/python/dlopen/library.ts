/**
 * A checked native library of a package: it may change only the memory and the stack pointer, so that an
 * image of both is still the complete interpreter.
 *
 * @module
 */
import type { CoreImport } from '../../binary/core-module.ts';
import { Reader } from '../../binary/reader.ts';
import { readDylink, type Dylink } from './dylink.ts';
import { OPCODE, readBody } from './instructions.ts';
import { readShape, type Place, type Shape } from './shape.ts';

/** For all libraries of an environment together; more would exceed the default limits of a cell. */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const MAX_TABLE_SLOTS = 100_000;

export const BASES = { memory: '__memory_base', table: '__table_base', stack: '__stack_pointer' } as const;

/** Why a library cannot be loaded, worded for the author of the skill. */
export class LinkError extends Error {
  constructor(path: string, reason: string) {
    super(`${path} ${reason}`);
    this.name = 'LinkError';
  }
}

export interface Library {
  /** Path inside the guest. */
  path: string;
  shape: Shape;
  dylink: Dylink;
}

export function readLibrary(path: string, bytes: Uint8Array): Library {
  try {
    const dylink = readDylink(bytes);
    if (!dylink) throw new LinkError(path, 'is not an Emscripten library: it has no section dylink.0');
    const library = { path, dylink, shape: readShape(bytes) };
    checkFrame(library);
    checkPlaces(library);
    checkCode(library);
    return library;
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError(path, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function importedGlobals({ shape }: Library): CoreImport[] {
  return shape.module.imports.filter(({ kind }) => kind === 'global');
}

function checkFrame({ path, dylink, shape: { module } }: Library): void {
  const refuse = (reason: string): never => {
    throw new LinkError(path, reason);
  };
  if (dylink.memoryBytes > MAX_MEMORY_BYTES) refuse(`requests ${dylink.memoryBytes} bytes of memory`);
  if (dylink.tableSlots > MAX_TABLE_SLOTS) refuse(`requests ${dylink.tableSlots} function slots`);
  if (module.tables.length > 0) refuse('has its own table');
  if (module.memories.length > 0) refuse('has its own memory');
  const unknown = module.imports.find((one) => !isKnownImport(one));
  if (unknown) refuse(`imports ${unknown.module}.${unknown.name}, which is a ${unknown.kind}`);
}

function isKnownImport({ module, name, kind }: CoreImport): boolean {
  if (module === 'GOT.mem' || module === 'GOT.func') return kind === 'global';
  if (module !== 'env') return false;
  if (kind === 'memory') return name === 'memory';
  if (kind === 'table') return name === '__indirect_function_table';
  if (kind === 'global') return Object.values<string>(BASES).includes(name);
  return true;
}

/** Its data and functions must be placed in the area that it requested, and nowhere else. */
function checkPlaces(library: Library): void {
  const { path, dylink, shape } = library;
  const names = importedGlobals(library).map(({ name }) => name);
  const isInside = (
    { global, offset }: Place,
    base: string,
    room: { length: number; size: number },
  ): boolean =>
    global !== undefined && names[global] === base && offset >= 0 && offset + room.length <= room.size;
  const data = shape.data.every(({ place, length }) =>
    isInside(place, BASES.memory, { length, size: dylink.memoryBytes }),
  );
  if (!data) throw new LinkError(path, 'places data outside its own memory');
  const functions = shape.elements.every(({ place, functions: { length } }) =>
    isInside(place, BASES.table, { length, size: dylink.tableSlots }),
  );
  if (!functions) throw new LinkError(path, 'places functions outside its own slots');
}

const REFUSED: ReadonlyMap<number, string> = new Map([
  [OPCODE.memoryGrow, 'grows the memory'],
  [OPCODE.memoryInit, 'uses data segments at run time'],
  [OPCODE.dataDrop, 'drops data segments'],
  [OPCODE.tableSet, 'changes the function table'],
  [OPCODE.tableInit, 'changes the function table'],
  [OPCODE.elementDrop, 'drops element segments'],
  [OPCODE.tableCopy, 'changes the function table'],
  [OPCODE.tableGrow, 'changes the function table'],
  [OPCODE.tableFill, 'changes the function table'],
]);

function checkCode(library: Library): void {
  const { path, shape } = library;
  const { bytes, bodies, imports, startFunction } = shape.module;
  const names = importedGlobals(library).map(({ name }) => name);
  const first = imports.filter(({ kind }) => kind === 'func').length;
  for (const [at, { start, end }] of bodies.entries()) {
    const setsConstants = first + at === startFunction && isStraight(new Reader(bytes, start, end), names);
    readBody(new Reader(bytes, start, end), (instruction) => {
      const reason = REFUSED.get(instruction.opcode);
      if (reason !== undefined) throw new LinkError(path, `${reason}, which an image would not undo`);
      if (instruction.opcode !== OPCODE.globalSet || names[instruction.first] === BASES.stack) return;
      if (!setsConstants || instruction.first < names.length)
        throw new LinkError(path, 'changes a global, which an image would not undo');
    });
  }
}

/**
 * True for a start function that computes only with its base addresses, and in one way only. Linkers generate such a
 * function to set globals that hold addresses: it runs for every instance, and always sets the same values.
 */
function isStraight(body: Reader, names: readonly string[]): boolean {
  let straight = true;
  readBody(body, ({ opcode, first }) => {
    const isBase = names[first] === BASES.memory || names[first] === BASES.table;
    straight &&= opcode === OPCODE.globalGet ? isBase : CONSTANT_WORK.has(opcode);
  });
  return straight;
}

const CONSTANT_WORK: ReadonlySet<number> = new Set([
  OPCODE.end,
  OPCODE.globalSet,
  OPCODE.i32Constant,
  OPCODE.i32Add,
  OPCODE.memoryFill,
]);
