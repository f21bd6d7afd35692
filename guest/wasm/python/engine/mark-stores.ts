/**
 * Rewrites a module so that it marks every place that it writes in the memory: see `imaged/cards.ts`. Otherwise
 * the code stays as it is: what is inserted leaves the stack as it was, and changes only locals of its own.
 *
 * @module
 */
import { MODULE_HEADER } from '../../binary/core-module.ts';
import { readValueType } from '../../binary/core-types.ts';
import { Reader } from '../../binary/reader.ts';
import { CARD_BITS } from '../../imaged/cards.ts';
import { Writer } from '../../install/writer.ts';
import { readBody, type Instruction } from '../dlopen/instructions.ts';
import { signed, unsigned } from './encode.ts';

export const CARDS_IMPORT = { module: 'env', name: 'cards' } as const;
/** For 4 GiB, and one more page for the mark behind the last. */
const MAX_CARD_PAGES = 17;
const MAX_NAME_BYTES = 4096;
const SECTION = { types: 1, imports: 2, functions: 3, memories: 5, code: 10, data: 11 } as const;
const FUNC_TYPE = 0x60;
/** After the memory of the module itself. */
const CARDS_MEMORY = 1;
/** In the alignment of a memory operand: the index of a memory follows. */
const NAMES_MEMORY = 0x40;
const CARD_MASK = (1 << CARD_BITS) - 1;

const TEMPORARY = {
  address: 0x7f,
  length: 0x7f,
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
} as const;
type Temporary = keyof typeof TEMPORARY;

interface Store {
  value: Temporary;
  bytes: number;
}

/** Every instruction that stores one value. A test compares this with all instructions that WebAssembly has. */
export const STORES: ReadonlyMap<number, Store> = new Map<number, Store>([
  [0x36, { value: 'i32', bytes: 4 }],
  [0x37, { value: 'i64', bytes: 8 }],
  [0x38, { value: 'f32', bytes: 4 }],
  [0x39, { value: 'f64', bytes: 8 }],
  [0x3a, { value: 'i32', bytes: 1 }],
  [0x3b, { value: 'i32', bytes: 2 }],
  [0x3c, { value: 'i64', bytes: 1 }],
  [0x3d, { value: 'i64', bytes: 2 }],
  [0x3e, { value: 'i64', bytes: 4 }],
  [0xfd0b, { value: 'v128', bytes: 16 }],
  [0xfd58, { value: 'v128', bytes: 1 }],
  [0xfd59, { value: 'v128', bytes: 2 }],
  [0xfd5a, { value: 'v128', bytes: 4 }],
  [0xfd5b, { value: 'v128', bytes: 8 }],
]);
const MEMORY_INIT = 0xfc08;
/** The kind of a data segment that only `memory.init` writes. */
const PASSIVE = 1;
/** `memory.copy` and `memory.fill`: both take a destination, an i32 and a length. */
export const BULK_WRITES: ReadonlySet<number> = new Set([0xfc0a, 0xfc0b]);

const OP = {
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  store16: 0x3b,
  constant: 0x41,
  add: 0x6a,
  atMost: 0x4d,
  and: 0x71,
  shiftRight: 0x76,
} as const;
const IF: readonly number[] = [0x04, 0x40];
const ELSE = 0x05;
const END = 0x0b;
const SHIFT: readonly number[] = [OP.constant, CARD_BITS, OP.shiftRight];
/** Two marks at once, because a store can touch two cards. Alignment 1, memory 1, offset 0. */
const MARK_TWO: readonly number[] = [
  OP.constant,
  ...signed(0x0101),
  OP.store16,
  NAMES_MEMORY,
  CARDS_MEMORY,
  0,
];
const FILL_MARKS: readonly number[] = [0xfc, 0x0b, CARDS_MEMORY];

/** The module must import its only memory, and write no data into it. */
export function markStores(bytes: Uint8Array): Uint8Array {
  const reader = new Reader(bytes, MODULE_HEADER.length);
  const out = new Writer(Math.ceil(bytes.length * 1.5));
  out.bytes(MODULE_HEADER);
  let params: number[] = [];
  let functions: number[] = [];
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    let content = bytes.subarray(section.position, section.end);
    if (id === SECTION.types) params = readTypes(section);
    else if (id === SECTION.functions) functions = readList(section);
    else if (id === SECTION.imports) content = withCardsImport(section);
    else if (id === SECTION.memories) section.fail('A module must not define a memory to be marked');
    else if (id === SECTION.data) refuseActiveData(section);
    else if (id === SECTION.code) content = markedCode(section, (at) => params[functions[at] ?? -1]);
    out.byte(id);
    out.u32(content.length);
    out.bytes(content);
  }
  return out.view.slice();
}

/** The number of parameters of every type. */
function readTypes(section: Reader): number[] {
  const params: number[] = [];
  for (let left = section.u32(); left > 0; left--) {
    if (section.byte() !== FUNC_TYPE) section.fail('Only function types are expected');
    const count = section.u32();
    params.push(count);
    for (let at = 0; at < count; at++) readValueType(section);
    for (let results = section.u32(); results > 0; results--) readValueType(section);
  }
  return params;
}

function readList(section: Reader): number[] {
  return Array.from({ length: section.u32() }, () => section.u32());
}

/** Every new instance would write it, without marks. */
function refuseActiveData(section: Reader): void {
  for (let left = section.u32(); left > 0; left--) {
    if (section.u32() !== PASSIVE) section.fail('Active data cannot be marked');
    section.skip(section.u32());
  }
}

function withCardsImport(section: Reader): Uint8Array {
  const start = section.position;
  const count = section.u32();
  const list = section.bytes.subarray(section.position, section.end);
  section.position = start;
  if (importedMemories(section) !== 1) section.fail('A module must import exactly one memory to be marked');
  const out = new Writer(list.length + 64);
  out.u32(count + 1);
  out.bytes(list);
  out.name(CARDS_IMPORT.module);
  out.name(CARDS_IMPORT.name);
  out.bytes([2, 1, 1, MAX_CARD_PAGES]);
  return out.view;
}

function importedMemories(section: Reader): number {
  let memories = 0;
  for (let left = section.u32(); left > 0; left--) {
    section.name(MAX_NAME_BYTES);
    section.name(MAX_NAME_BYTES);
    const kind = section.byte();
    if (kind === 0) section.u32();
    else if (kind === 3) section.skip(2);
    else {
      if (kind === 1) section.byte();
      else if (kind !== 2) section.fail('An import of an unexpected kind');
      const hasMaximum = section.byte() === 1;
      section.u32();
      if (hasMaximum) section.u32();
      if (kind === 2) memories++;
    }
  }
  return memories;
}

function markedCode(section: Reader, paramsOf: (at: number) => number | undefined): Uint8Array {
  const count = section.u32();
  const out = new Writer(Math.ceil((section.end - section.position) * 1.5) + 64);
  const body = new Writer(65_536);
  out.u32(count);
  for (let at = 0; at < count; at++) {
    const params = paramsOf(at) ?? section.fail('A function has no type');
    body.clear();
    markBody(section.window(section.u32()), params, body);
    out.u32(body.length);
    out.bytes(body.view);
  }
  return out.view;
}

function markBody(body: Reader, params: number, out: Writer): void {
  const { bytes, position: start, end } = body;
  const groups = new Reader(bytes, start, end);
  const groupCount = groups.u32();
  const groupsStart = groups.position;
  let locals = params;
  for (let left = groupCount; left > 0; left--) {
    locals += groups.u32();
    readValueType(groups);
  }
  const code = new Writer((end - start) * 2);
  const temporaries = new Temporaries(locals);
  let copied = groups.position;
  readBody(new Reader(bytes, start, end), (instruction) => {
    const marking = markingOf(instruction, temporaries, body);
    if (!marking) return;
    code.bytes(bytes.subarray(copied, instruction.from));
    code.bytes(marking);
    copied = instruction.from;
  });
  code.bytes(bytes.subarray(copied, end));
  out.u32(groupCount + temporaries.types.length);
  out.bytes(bytes.subarray(groupsStart, groups.position));
  for (const type of temporaries.types) out.bytes([1, type]);
  out.bytes(code.view);
}

/** Locals of a function that only the inserted instructions use; declared only if they are used. */
class Temporaries {
  readonly types: number[] = [];
  readonly #first: number;
  readonly #indices = new Map<Temporary, number[]>();

  constructor(first: number) {
    this.#first = first;
  }

  /** Its index, encoded. */
  of(temporary: Temporary): number[] {
    const known = this.#indices.get(temporary);
    if (known) return known;
    const encoded = unsigned(this.#first + this.types.length);
    this.types.push(TEMPORARY[temporary]);
    this.#indices.set(temporary, encoded);
    return encoded;
  }
}

/** What to insert before the instruction; undefined if it does not write to the memory. */
function markingOf(instruction: Instruction, temporaries: Temporaries, body: Reader): number[] | undefined {
  const { opcode, second, from } = instruction;
  if (opcode === MEMORY_INIT) body.fail('Passive data cannot be marked', from);
  if (BULK_WRITES.has(opcode)) return markBulk(temporaries);
  const store = STORES.get(opcode);
  return store && markStore(store, second, temporaries);
}

/** `[address, value]` stays on the stack. */
function markStore({ value, bytes }: Store, offset: number, temporaries: Temporaries): number[] {
  const [address, kept] = [temporaries.of('address'), temporaries.of(value)];
  // With a small offset, the store ends at the latest on the card after that of the address.
  const place = offset + bytes <= 1 << CARD_BITS ? [] : [OP.constant, ...signed(offset | 0), OP.add];
  return [
    ...[OP.set, ...kept, OP.tee, ...address],
    ...[...place, ...SHIFT, ...MARK_TWO],
    ...[OP.get, ...address, OP.get, ...kept],
  ];
}

/**
 * `[destination, value or source, length]` stays on the stack. Marks `((destination % card) + length) / card` cards, rounded
 * up. Up to the size of a card they are at most two, and storing two marks is faster than a fill.
 */
function markBulk(temporaries: Temporaries): number[] {
  const [address, kept, length] = (['address', 'i32', 'length'] as const).map((name) =>
    temporaries.of(name),
  ) as [number[], number[], number[]];
  const mask = [OP.constant, ...signed(CARD_MASK)];
  const card = [OP.get, ...address, ...SHIFT];
  return [
    ...[OP.set, ...length, OP.set, ...kept, OP.set, ...address],
    ...[OP.get, ...length, OP.constant, ...signed(CARD_MASK + 1), OP.atMost, ...IF],
    ...[...card, ...MARK_TWO, ELSE, ...card, OP.constant, 1],
    ...[OP.get, ...address, ...mask, OP.and, OP.get, ...length, OP.add, ...mask, OP.add, ...SHIFT],
    ...[...FILL_MARKS, END],
    ...[OP.get, ...address, OP.get, ...kept, OP.get, ...length],
  ];
}
