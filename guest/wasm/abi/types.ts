/**
 * Value types with everything that the canonical ABI needs to know about them, computed once per plan:
 * size and alignment in memory, and the core values they become when passed without memory.
 *
 * @module
 */

import type { Primitive } from '../contract.ts';
import type { ResourceType } from './resources.ts';

export type CoreType = 'i32' | 'i64' | 'f32' | 'f64';

/** More core parameters than this are passed through memory, and so are results of more than one core value. */
const MAX_FLAT_PARAMS = 16;
export const MAX_FLAT_RESULTS = 1;

/** Guests choose their types: without these limits, a few bytes could describe a value larger than memory. */
const MAX_TYPE_SIZE = 1 << 16;
const MAX_TYPE_DEPTH = 64;
const MAX_FLAGS = 32;

interface Layout {
  size: number;
  align: number;
  /** `undefined` if there are more than MAX_FLAT_PARAMS; such a value is always passed through memory. */
  flat: readonly CoreType[] | undefined;
  /** Approximate cost of one value as a list element, in bytes of this process; what it points to is counted separately. */
  weight: number;
  depth: number;
}

export interface Field {
  name: string;
  type: AbiType;
  offset: number;
}

export interface Case {
  name: string;
  type: AbiType | undefined;
}

export type PrimitiveType = Layout & { kind: Primitive };
export type ListType = Layout & { kind: 'list'; element: AbiType };
export type FieldsType = Layout & { kind: 'record' | 'tuple'; fields: readonly Field[] };
export type FlagsType = Layout & { kind: 'flags'; names: readonly string[] };
export type HandleType = Layout & { kind: 'own' | 'borrow'; resource: ResourceType };
/** All types with a discriminant; `kind` only determines how the host sees it. */
export type CasesType = Layout & {
  kind: 'variant' | 'enum' | 'option' | 'result';
  cases: readonly Case[];
  indexOf: ReadonlyMap<string, number>;
  discriminant: 1 | 2 | 4;
  payloadOffset: number;
};

export type AbiType = PrimitiveType | ListType | FieldsType | FlagsType | HandleType | CasesType;

export interface FuncType {
  params: FieldsType | undefined;
  result: AbiType | undefined;
}

const SCALAR_WEIGHT = 8;
const OBJECT_WEIGHT = 32;

const PRIMITIVES: Record<Primitive, [size: number, flat: CoreType]> = {
  bool: [1, 'i32'],
  s8: [1, 'i32'],
  u8: [1, 'i32'],
  s16: [2, 'i32'],
  u16: [2, 'i32'],
  s32: [4, 'i32'],
  u32: [4, 'i32'],
  s64: [8, 'i64'],
  u64: [8, 'i64'],
  f32: [4, 'f32'],
  f64: [8, 'f64'],
  char: [4, 'i32'],
  string: [8, 'i32'],
};

export function primitiveType(kind: Primitive): PrimitiveType {
  const [size, flat] = PRIMITIVES[kind];
  if (kind === 'string')
    return { kind, size, align: 4, flat: ['i32', 'i32'], weight: OBJECT_WEIGHT, depth: 1 };
  return { kind, size, align: size, flat: [flat], weight: SCALAR_WEIGHT, depth: 1 };
}

export function listType(element: AbiType): ListType {
  const depth = checkedDepth([element]);
  return { kind: 'list', element, size: 8, align: 4, flat: ['i32', 'i32'], weight: OBJECT_WEIGHT, depth };
}

export function recordType(fields: readonly { name: string; type: AbiType }[]): FieldsType {
  return fieldsType('record', fields);
}

export function tupleType(types: readonly AbiType[]): FieldsType {
  return fieldsType(
    'tuple',
    types.map((type, index) => ({ name: String(index), type })),
  );
}

export function flagsType(names: readonly string[]): FlagsType {
  if (names.length === 0 || names.length > MAX_FLAGS)
    throw new TypeError(`Flags must not have ${names.length} labels`);
  const size = names.length <= 8 ? 1 : names.length <= 16 ? 2 : 4;
  const weight = OBJECT_WEIGHT + names.length * SCALAR_WEIGHT;
  return { kind: 'flags', names, size, align: size, flat: ['i32'], weight, depth: 1 };
}

export function handleType(kind: 'own' | 'borrow', resource: ResourceType): HandleType {
  return { kind, resource, size: 4, align: 4, flat: ['i32'], weight: OBJECT_WEIGHT, depth: 1 };
}

export function optionType(type: AbiType): CasesType {
  return casesType('option', [
    { name: 'none', type: undefined },
    { name: 'some', type },
  ]);
}

export function resultType(ok: AbiType | undefined, err: AbiType | undefined): CasesType {
  return casesType('result', [
    { name: 'ok', type: ok },
    { name: 'err', type: err },
  ]);
}

export function enumType(names: readonly string[]): CasesType {
  return casesType(
    'enum',
    names.map((name) => ({ name, type: undefined })),
  );
}

export function variantType(cases: readonly Case[]): CasesType {
  return casesType('variant', cases);
}

export function funcType(params: readonly { name: string; type: AbiType }[], result?: AbiType): FuncType {
  return { params: params.length === 0 ? undefined : recordType(params), result };
}

function fieldsType(kind: 'record' | 'tuple', list: readonly { name: string; type: AbiType }[]): FieldsType {
  if (list.length === 0) throw new TypeError(`A ${kind} has no fields`);
  let size = 0;
  let align = 1;
  let weight = OBJECT_WEIGHT;
  const fields: Field[] = [];
  for (const { name, type } of list) {
    const offset = alignTo(size, type.align);
    fields.push({ name, type, offset });
    size = offset + type.size;
    align = Math.max(align, type.align);
    weight += type.weight;
  }
  const depth = checkedDepth(list.map((field) => field.type));
  return {
    kind,
    fields,
    size: checkedSize(alignTo(size, align)),
    align,
    flat: flatFields(fields),
    weight,
    depth,
  };
}

function casesType(kind: CasesType['kind'], cases: readonly Case[]): CasesType {
  if (cases.length === 0) throw new TypeError(`A ${kind} has no cases`);
  const discriminant = cases.length <= 0x100 ? 1 : cases.length <= 0x10000 ? 2 : 4;
  const payloads = cases.flatMap((one) => (one.type === undefined ? [] : [one.type]));
  const payloadAlign = payloads.reduce((most, type) => Math.max(most, type.align), 1);
  const payloadSize = payloads.reduce((most, type) => Math.max(most, type.size), 0);
  const payloadOffset = alignTo(discriminant, payloadAlign);
  const align = Math.max(discriminant, payloadAlign);
  return {
    kind,
    cases,
    indexOf: new Map(cases.map((one, index) => [one.name, index])),
    discriminant,
    payloadOffset,
    size: checkedSize(alignTo(payloadOffset + payloadSize, align)),
    align,
    flat: flatCases(payloads),
    weight: OBJECT_WEIGHT + payloads.reduce((most, type) => Math.max(most, type.weight), 0),
    depth: checkedDepth(payloads),
  };
}

function flatFields(fields: readonly Field[]): CoreType[] | undefined {
  const all: CoreType[] = [];
  for (const { type } of fields) {
    if (type.flat === undefined || all.length + type.flat.length > MAX_FLAT_PARAMS) return undefined;
    all.push(...type.flat);
  }
  return all;
}

/** The cases share their core values: each slot has the narrowest type that can hold all of them. */
function flatCases(payloads: readonly AbiType[]): CoreType[] | undefined {
  const joined: CoreType[] = [];
  for (const { flat } of payloads) {
    if (flat === undefined) return undefined;
    for (const [slot, core] of flat.entries()) {
      const present = joined[slot];
      joined[slot] = present === undefined ? core : join(present, core);
    }
  }
  return joined.length + 1 > MAX_FLAT_PARAMS ? undefined : ['i32', ...joined];
}

function join(left: CoreType, right: CoreType): CoreType {
  if (left === right) return left;
  const bothNarrow = left !== 'i64' && left !== 'f64' && right !== 'i64' && right !== 'f64';
  return bothNarrow ? 'i32' : 'i64';
}

function alignTo(offset: number, align: number): number {
  return Math.ceil(offset / align) * align;
}

function checkedSize(size: number): number {
  if (size > MAX_TYPE_SIZE) throw new TypeError(`A type is larger than ${MAX_TYPE_SIZE} bytes`);
  return size;
}

function checkedDepth(parts: readonly AbiType[]): number {
  const depth = parts.reduce((most, type) => Math.max(most, type.depth), 0) + 1;
  if (depth > MAX_TYPE_DEPTH) throw new TypeError(`Types are nested deeper than ${MAX_TYPE_DEPTH}`);
  return depth;
}
