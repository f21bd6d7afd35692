/**
 * The functions of the engine that read the state of a hash, and the code that replaces them: see `host-hash.ts`.
 *
 * @module
 */
import { signed, unsigned } from './encode.ts';
import { HASH_TABLE_INDEX, HOST_HASHES, MAX_BYTES, MIN_BYTES, type HostHash } from './hash-table.ts';

/** A function of the engine, and the digest of its body. */
export interface Known {
  index: number;
  sha256: string;
}

/** The functions that read the state of a hash. Both families share the layout of the state and of the object. */
interface Family {
  /** `(state, data, length)` */
  update: Known;
  /** `(state, digest)` */
  digest: Known;
  /** The method of the object, with five parameters. */
  copy: Known;
  algorithm: HostHash;
  /** Another one with the same functions, whose new state begins with this word. */
  sibling?: { algorithm: HostHash; word: number };
}

export const FAMILIES: readonly Family[] = [
  {
    algorithm: 'sha256',
    sibling: { algorithm: 'sha224', word: 0xc1059ed8 },
    update: { index: 5587, sha256: 'b5c99651567a27a7cfbb553b5d2df85a824f8389976e4441d0603451c1bec9d9' },
    digest: { index: 5588, sha256: '51d5723db4759c8ab35d66f89dda99e4045c57d333c68f1d6c863289d1b3f4d4' },
    copy: { index: 6751, sha256: '2ed43a9da5cf47f1cceb374183d841631d42b9e504998dfa5c6b27cfa67321cc' },
  },
  {
    algorithm: 'sha1',
    update: { index: 5570, sha256: '5dd1f04698552f5c77db9c088b2101ac0890a6d3d00b84200d805f69d3fc67ca' },
    digest: { index: 5571, sha256: '45f1cdd62f2ae061c8934d81efdd31eb4e336c646535fd1faa32dacae9a491d2' },
    copy: { index: 6736, sha256: '469ea63d6b4a347ac1706bc6a3e11cdd50104db4bfd811776046166b652dc349' },
  },
];

/** Of each family: the old bodies of its three functions, and one more. */
export const ADDED_FUNCTIONS = 4;

const I32 = 0x7f;
const I64 = 0x7e;
/** Of the object. */
const STATE_FIELD = 16;
const COPY_PARAMETERS = 5;

const OP = {
  if: [0x04, 0x40],
  end: 0x0b,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  select: 0x1b,
  get: 0x20,
  tee: 0x22,
  i32: 0x41,
  i64: 0x42,
  i32Equal: 0x46,
  i32AtMost: 0x4d,
  i64IsZero: 0x50,
  i64Less: 0x53,
  i32Subtract: 0x6b,
  i32And: 0x71,
  i64Or: 0x84,
  wrap: 0xa7,
  extend: 0xad,
  copy: [0xfc, 0x0a, 0, 0],
} as const;

/** Fields of the state: a pointer to its words, a pointer to its buffer, and how many bytes were hashed. */
const FIELD = {
  words: { load: [0x28, 2, 0] },
  buffer: { load: [0x28, 2, 4], store: [0x36, 2, 4] },
  length: { load: [0x29, 3, 8], store: [0x37, 3, 8] },
} as const;
/** In the field of the length: nothing was hashed yet, and the buffer holds all data. */
const KEPT = [OP.i64, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f];

export interface Replacement {
  known: Known;
  body: number[];
}

/** What the bodies refer to, by index. */
export interface Indices {
  malloc: number;
  free: number;
  /** The type of the host's function. */
  hashType: number;
  /** The type of a function of one address. */
  addressType: number;
  /** Of the first added function. */
  added: number;
}

export function replacements(family: Family, indices: Indices): Replacement[] {
  const { update, digest, copy } = family;
  return [
    { known: update, body: updateBody(indices) },
    { known: digest, body: digestBody(family, indices) },
    { known: copy, body: copyBody(indices) },
  ];
}

/** `(state, data, length)`: keeps the data of a first update. */
function updateBody({ malloc, free, added }: Indices): number[] {
  const [state, data, length, kept] = [local(0), local(1), local(2), local(3)];
  const isFirst = [...state, ...FIELD.length.load, OP.i64IsZero];
  const hasSize = [...length, ...constant(MIN_BYTES), OP.i32Subtract, ...constant(MAX_BYTES - MIN_BYTES)];
  return body(
    [I32],
    [
      ...[...isFirst, ...hasSize, OP.i32AtMost, OP.i32And, ...OP.if],
      ...[...length, ...call(malloc), OP.tee, 3, ...OP.if],
      ...[...kept, ...data, ...length, ...OP.copy],
      ...[...state, ...FIELD.buffer.load, ...call(free)],
      ...[...state, ...kept, ...FIELD.buffer.store],
      ...[...state, ...length, OP.extend, ...KEPT, OP.i64Or, ...FIELD.length.store, OP.return],
      ...[OP.end, OP.end],
      ...[...state, ...call(added + 3), ...state, ...data, ...length, ...call(added)],
    ],
  );
}

/** `(state, digest)`: asks the host if all data was kept. It may decline. */
function digestBody(family: Family, { hashType, added }: Indices): number[] {
  const [state, digest, kept] = [local(0), local(1), local(2)];
  return body(
    [I64],
    [
      ...[...state, ...FIELD.length.load, OP.tee, 2, OP.i64, 0, OP.i64Less, ...OP.if],
      ...algorithmOf(family, state),
      ...[...state, ...FIELD.buffer.load, ...kept, OP.wrap, ...digest],
      ...[OP.i32, 0, OP.callIndirect, ...unsigned(hashType), HASH_TABLE_INDEX, ...OP.if, OP.return, OP.end],
      ...[...state, ...call(added + 3), OP.end],
      ...[...state, ...digest, ...call(added + 1)],
    ],
  );
}

function algorithmOf({ algorithm, sibling }: Family, state: Code): Code {
  const number = (one: HostHash): number[] => constant(HOST_HASHES.indexOf(one));
  if (!sibling) return number(algorithm);
  const firstWord = [...state, ...FIELD.words.load, ...FIELD.words.load];
  const isSibling = [...firstWord, ...constant(sibling.word | 0), OP.i32Equal];
  return [...number(sibling.algorithm), ...number(algorithm), ...isSibling, OP.select];
}

/** A copy has a buffer of the usual size. */
function copyBody({ added }: Indices): number[] {
  const parameters = Array.from({ length: COPY_PARAMETERS }, (_, at) => local(at)).flat();
  return body([], [...local(0), 0x28, 2, STATE_FIELD, ...call(added + 3), ...parameters, ...call(added + 2)]);
}

/** `(state)`: hashes data that was kept. The buffer stays as large as it is. */
export function hashesKept({ added }: Indices): number[] {
  const state = local(0);
  return body(
    [I64],
    [
      ...[...state, ...FIELD.length.load, OP.tee, 1, OP.i64, 0, OP.i64Less, ...OP.if],
      ...[...state, OP.i64, 0, ...FIELD.length.store],
      ...[...state, ...state, ...FIELD.buffer.load, ...local(1), OP.wrap, ...call(added), OP.end],
    ],
  );
}

type Code = readonly number[];

function body(locals: Code, code: Code): number[] {
  return [locals.length, ...locals.flatMap((type) => [1, type]), ...code, OP.end];
}

function local(index: number): number[] {
  return [OP.get, index];
}

function call(index: number): number[] {
  return [OP.call, ...unsigned(index)];
}

function constant(value: number): number[] {
  return [OP.i32, ...signed(value)];
}
