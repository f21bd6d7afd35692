/**
 * What the linker needs to know about a module, the engine's or a library's: its layout, the values of its globals, and
 * what it places where.
 *
 * @module
 */
import { parseCoreModule, type CoreModule } from '../../binary/core-module.ts';
import { readGlobalType } from '../../binary/core-types.ts';
import { Reader } from '../../binary/reader.ts';

const GLOBALS = 6;
const ELEMENTS = 9;
const DATA = 11;
const I32_CONST = 0x41;
const GLOBAL_GET = 0x23;
const I32_ADD = 0x6a;
const END = 0x0b;

/** A location: a number, relative to an imported global if it names one. */
export interface Place {
  global: number | undefined;
  offset: number;
}

export interface Shape {
  module: CoreModule;
  /** For the globals that the module defines: whether they change, and their initial value, if it is a location. */
  globals: { isMutable: boolean; start: Place | undefined }[];
  elements: { place: Place; functions: number[] }[];
  data: { place: Place; length: number }[];
}

export function readShape(bytes: Uint8Array): Shape {
  const module = parseCoreModule(new Reader(bytes));
  const section = (id: number): Reader | undefined => {
    const found = module.sections.find((one) => one.id === id);
    return found && new Reader(bytes, found.start, found.end);
  };
  return {
    module,
    globals: readEach(section(GLOBALS), readGlobal),
    elements: readEach(section(ELEMENTS), readElement),
    data: readEach(section(DATA), readData),
  };
}

function readEach<Item>(section: Reader | undefined, read: (section: Reader) => Item): Item[] {
  return section ? Array.from({ length: section.u32() }, () => read(section)) : [];
}

function readGlobal(section: Reader): Shape['globals'][number] {
  const start = section.position;
  readGlobalType(section);
  const isMutable = section.bytes[start + 1] === 1;
  return { isMutable, start: readPlace(section) };
}

function readElement(section: Reader): Shape['elements'][number] {
  if (section.u32() !== 0) section.fail('Only plain element segments are expected');
  const place = readPlace(section) ?? section.fail('The location of an element segment is unknown');
  return { place, functions: Array.from({ length: section.u32() }, () => section.u32()) };
}

function readData(section: Reader): Shape['data'][number] {
  if (section.u32() !== 0) section.fail('Only plain data segments are expected');
  const place = readPlace(section) ?? section.fail('The location of a data segment is unknown');
  const length = section.u32();
  section.skip(length);
  return { place, length };
}

/** A constant expression: the sum of numbers and at most one global. Other constants are not locations. */
function readPlace(section: Reader): Place | undefined {
  const place: Place = { global: undefined, offset: 0 };
  let isPlace = true;
  for (let opcode = section.byte(); opcode !== END; opcode = section.byte()) {
    if (opcode === I32_CONST) place.offset = (place.offset + section.signed(32)) | 0;
    else if (opcode === GLOBAL_GET) {
      isPlace &&= place.global === undefined;
      place.global = section.u32();
    } else if (opcode !== I32_ADD) {
      isPlace = false;
      skipConstant(section, opcode);
    }
  }
  return isPlace ? place : undefined;
}

function skipConstant(section: Reader, opcode: number): void {
  if (opcode === 0x42) section.skipS64();
  else if (opcode === 0x43) section.skip(4);
  else if (opcode === 0x44) section.skip(8);
  else if (opcode === 0xd0) section.byte();
  else if (opcode === 0xd2) section.u32();
  else section.fail(`Instruction 0x${opcode.toString(16)} is not expected in a constant`);
}
