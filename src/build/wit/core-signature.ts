/**
 * The core function signature of an interface function in the canonical ABI.
 *
 * @module
 */
import {
  membersOf,
  partsOf,
  resolve,
  type Definition,
  type FunctionType,
  type Interface,
  type Type,
} from './types.ts';

export type CoreType = 'i32' | 'i64';

export interface CoreSignature {
  params: readonly CoreType[];
  results: readonly CoreType[];
}

/** With more parameters than this, they are passed in memory. */
const MAX_PARAMS = 16;
const ADDRESS: CoreType = 'i32';
const PRIMITIVES: Readonly<Record<string, readonly CoreType[]>> = {
  bool: ['i32'],
  u8: ['i32'],
  u16: ['i32'],
  u32: ['i32'],
  u64: ['i64'],
  string: ['i32', 'i32'],
};

export const DROP: CoreSignature = { params: ['i32'], results: [] };

export function coreSignature(func: FunctionType, of: Interface): CoreSignature {
  const flat = Object.values(func.params).flatMap((param) => flatten(param, of));
  const params = flat.length > MAX_PARAMS ? [ADDRESS] : flat;
  const results = func.result === undefined ? [] : flatten(func.result, of);
  return results.length > 1 ? { params: [...params, ADDRESS], results: [] } : { params, results };
}

function flatten(type: Type, of: Interface): readonly CoreType[] {
  if (typeof type === 'string') {
    if (PRIMITIVES[type]) return PRIMITIVES[type];
    const found = resolve(type, of);
    return flattenDefinition(found.definition, found.of);
  }
  if ('list' in type) return ['i32', 'i32'];
  if ('own' in type || 'borrow' in type) return ['i32'];
  const parts = partsOf(type).map((part) => flatten(part, of));
  return 'tuple' in type ? parts.flat() : ['i32', ...joined(parts)];
}

function flattenDefinition(definition: Definition, of: Interface): readonly CoreType[] {
  const members = membersOf(definition).map((member) => flatten(member, of));
  const isRecord = typeof definition === 'object' && 'record' in definition;
  return isRecord ? members.flat() : ['i32', ...joined(members)];
}

/** Cases share slots; a slot is as wide as its widest case. */
function joined(cases: readonly (readonly CoreType[])[]): CoreType[] {
  const length = Math.max(0, ...cases.map((flat) => flat.length));
  return Array.from({ length }, (_, at) => (cases.some((flat) => flat[at] === 'i64') ? 'i64' : 'i32'));
}
