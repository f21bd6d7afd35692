/**
 * The section `dylink.0`, in which an Emscripten library declares how much memory and how many table slots it needs,
 * and which other libraries.
 *
 * @module
 */
import { MODULE_HEADER } from '../../binary/core-module.ts';
import { Reader } from '../../binary/reader.ts';

const SECTION = 'dylink.0';
const MAX_NAME_BYTES = 1024;
const MAX_LIBRARIES = 64;
/** Larger alignments would be a way to waste memory. */
const MAX_ALIGNMENT = 16;
const SPACE = 1;
const NEEDED = 2;
const IMPORT_FLAGS = 4;
const WEAK = 1;
const BINDING = 3;

export interface Dylink {
  memoryBytes: number;
  memoryAlignment: number;
  tableSlots: number;
  /** Names of libraries whose symbols it uses. */
  needed: string[];
  /** Imports that may be missing: the code checks whether they exist. */
  weak: Set<string>;
}

/** Undefined for a module that is not a library. */
export function readDylink(bytes: Uint8Array): Dylink | undefined {
  const reader = new Reader(bytes, MODULE_HEADER.length);
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    // It must be the first section.
    return id === 0 && section.name(MAX_NAME_BYTES) === SECTION ? readParts(section) : undefined;
  }
  return undefined;
}

function readParts(section: Reader): Dylink {
  const found: Dylink = {
    memoryBytes: 0,
    memoryAlignment: 1,
    tableSlots: 0,
    needed: [],
    weak: new Set(),
  };
  while (!section.done) {
    const id = section.byte();
    const part = section.window(section.u32());
    if (id === SPACE) readSpace(part, found);
    else if (id === NEEDED) readNeeded(part, found);
    else if (id === IMPORT_FLAGS) readImportFlags(part, found);
  }
  return found;
}

function readSpace(part: Reader, found: Dylink): void {
  found.memoryBytes = part.u32();
  found.memoryAlignment = readAlignment(part);
  found.tableSlots = part.u32();
  if (readAlignment(part) !== 1) part.fail('Table slots must not have an alignment');
}

function readAlignment(part: Reader): number {
  const power = part.u32();
  if (power > MAX_ALIGNMENT) part.fail(`An alignment of 2^${power} is not allowed`);
  return 2 ** power;
}

function readNeeded(part: Reader, found: Dylink): void {
  const count = part.count(MAX_LIBRARIES, 'libraries');
  for (let index = 0; index < count; index++) found.needed.push(part.name(MAX_NAME_BYTES));
}

function readImportFlags(part: Reader, found: Dylink): void {
  for (let left = part.u32(); left > 0; left--) {
    part.name(MAX_NAME_BYTES);
    const name = part.name(MAX_NAME_BYTES);
    if ((part.u32() & BINDING) === WEAK) found.weak.add(name);
  }
}
