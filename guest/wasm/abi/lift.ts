/**
 * Canonical ABI, lifting: core values and guest memory become host values. Nothing read here is trusted.
 *
 * @module
 */

import { GuestEnd, type HostResource, type HostValue } from '../contract.ts';
import type { AbiContext } from './context.ts';
import { FlatReader } from './flat.ts';
import { GuestResource } from './resources.ts';
import { loadString } from './strings.ts';
import {
  MAX_FLAT_RESULTS,
  type AbiType,
  type CasesType,
  type FieldsType,
  type FlagsType,
  type HandleType,
  type ListType,
} from './types.ts';

/** Parameters of a host function that the guest calls, from its core arguments. */
export function liftParams(
  context: AbiContext,
  type: FieldsType | undefined,
  args: readonly unknown[],
): HostValue[] {
  if (type === undefined) return [];
  context.refresh();
  const flat = new FlatReader(args);
  if (type.flat !== undefined) return type.fields.map((field) => liftFlat(context, field.type, flat));
  const address = context.check(flat.i32(), type.size, type.align);
  return type.fields.map((field) => load(context, field.type, address + field.offset));
}

/** Result of a guest function, from what the core function returned. */
export function liftResult(context: AbiContext, type: AbiType | undefined, returned: unknown): HostValue {
  if (type === undefined) return undefined;
  context.refresh();
  const flat = new FlatReader([returned]);
  if (type.flat !== undefined && type.flat.length <= MAX_FLAT_RESULTS) return liftFlat(context, type, flat);
  return load(context, type, context.check(flat.i32(), type.size, type.align));
}

function load(context: AbiContext, type: AbiType, address: number): HostValue {
  const { view } = context;
  switch (type.kind) {
    case 'string':
      return loadString(context, view.getUint32(address, true), view.getUint32(address + 4, true));
    case 'list':
      return loadList(context, type, address);
    case 'record':
    case 'tuple':
      return loadFields(context, type, address);
    case 'variant':
    case 'enum':
    case 'option':
    case 'result':
      return loadCases(context, type, address);
    case 'own':
    case 'borrow':
      return liftHandle(context, type, view.getUint32(address, true));
    case 'flags':
      return liftFlags(type, loadUnsigned(view, address, type.size));
    default:
      return loadScalar(view, type.kind, address);
  }
}

type Scalar = Exclude<
  AbiType['kind'],
  'string' | 'list' | FieldsType['kind'] | CasesType['kind'] | HandleType['kind'] | 'flags'
>;

function loadScalar(view: DataView, kind: Scalar, address: number): HostValue {
  switch (kind) {
    case 'bool':
      return view.getUint8(address) !== 0;
    case 'u8':
      return view.getUint8(address);
    case 's8':
      return view.getInt8(address);
    case 'u16':
      return view.getUint16(address, true);
    case 's16':
      return view.getInt16(address, true);
    case 'u32':
      return view.getUint32(address, true);
    case 's32':
      return view.getInt32(address, true);
    case 'u64':
      return view.getBigUint64(address, true);
    case 's64':
      return view.getBigInt64(address, true);
    case 'f32':
      return canonicalFloat(view.getFloat32(address, true));
    case 'f64':
      return canonicalFloat(view.getFloat64(address, true));
    default:
      return liftChar(view.getUint32(address, true));
  }
}

function liftFlat(context: AbiContext, type: AbiType, flat: FlatReader): HostValue {
  switch (type.kind) {
    case 'string':
      return loadString(context, flat.i32(), flat.i32() >>> 0);
    case 'list':
      return loadElements(context, type, { address: flat.i32(), count: flat.i32() >>> 0 });
    case 'record':
    case 'tuple':
      return liftFields(context, type, flat);
    case 'variant':
    case 'enum':
    case 'option':
    case 'result':
      return liftCases(context, type, flat);
    case 'own':
    case 'borrow':
      return liftHandle(context, type, flat.i32() >>> 0);
    case 'flags':
      return liftFlags(type, flat.i32());
    default:
      return liftScalar(type.kind, flat);
  }
}

/** Ignores bits beyond the width of the type, as the specification requires. */
function liftScalar(kind: Scalar, flat: FlatReader): HostValue {
  switch (kind) {
    case 'bool':
      return flat.i32() !== 0;
    case 'u8':
      return flat.i32() & 0xff;
    case 's8':
      return (flat.i32() << 24) >> 24;
    case 'u16':
      return flat.i32() & 0xffff;
    case 's16':
      return (flat.i32() << 16) >> 16;
    case 'u32':
      return flat.i32() >>> 0;
    case 's32':
      return flat.i32();
    case 'u64':
      return BigInt.asUintN(64, flat.i64());
    case 's64':
      return BigInt.asIntN(64, flat.i64());
    case 'f32':
      return canonicalFloat(Math.fround(flat.float()));
    case 'f64':
      return canonicalFloat(flat.float());
    default:
      return liftChar(flat.i32() >>> 0);
  }
}

function loadList(context: AbiContext, type: ListType, address: number): HostValue {
  const { view } = context;
  return loadElements(context, type, {
    address: view.getUint32(address, true),
    count: view.getUint32(address + 4, true),
  });
}

function loadElements(
  context: AbiContext,
  type: ListType,
  list: { address: number; count: number },
): HostValue {
  const { element } = type;
  const start = context.check(list.address, list.count * element.size, element.align);
  if (element.kind === 'u8') {
    context.charge(list.count);
    return context.bytes.slice(start, start + list.count);
  }
  context.charge(list.count * element.weight);
  const values: HostValue[] = [];
  for (let index = 0; index < list.count; index += 1)
    values.push(load(context, element, start + index * element.size));
  return values;
}

function loadFields(context: AbiContext, type: FieldsType, address: number): HostValue {
  if (type.kind === 'tuple')
    return type.fields.map((field) => load(context, field.type, address + field.offset));
  const record = emptyRecord();
  for (const field of type.fields) record[field.name] = load(context, field.type, address + field.offset);
  return record;
}

function liftFields(context: AbiContext, type: FieldsType, flat: FlatReader): HostValue {
  if (type.kind === 'tuple') return type.fields.map((field) => liftFlat(context, field.type, flat));
  const record = emptyRecord();
  for (const field of type.fields) record[field.name] = liftFlat(context, field.type, flat);
  return record;
}

function loadCases(context: AbiContext, type: CasesType, address: number): HostValue {
  const index = loadUnsigned(context.view, address, type.discriminant);
  const payload = caseAt(type, index).type;
  const value = payload === undefined ? undefined : load(context, payload, address + type.payloadOffset);
  return hostCase(type, index, value);
}

function liftCases(context: AbiContext, type: CasesType, flat: FlatReader): HostValue {
  const index = flat.i32() >>> 0;
  const payload = caseAt(type, index).type;
  const slots = flat.narrow(type.flat ?? [], payload?.flat ?? []);
  return hostCase(type, index, payload === undefined ? undefined : liftFlat(context, payload, slots));
}

function caseAt(type: CasesType, index: number): CasesType['cases'][number] {
  const found = type.cases[index];
  if (found === undefined)
    throw new GuestEnd('trap', `Variant case ${index} is out of range: there are ${type.cases.length}`);
  return found;
}

function hostCase(type: CasesType, index: number, value: HostValue): HostValue {
  switch (type.kind) {
    case 'enum':
      return caseAt(type, index).name;
    case 'option':
      if (index === 0) return undefined;
      return caseAt(type, 1).type?.kind === 'option' ? { some: value } : value;
    case 'result':
      return index === 0 ? { ok: value } : { err: value };
    default:
      return { tag: caseAt(type, index).name, val: value };
  }
}

function liftHandle(context: AbiContext, type: HandleType, index: number): HostResource | GuestResource {
  const { handles } = context.border;
  const { resource } = type;
  const rep =
    type.kind === 'own' ? handles.takeOwn(index, resource) : handles.lend(index, resource, context.scope);
  return typeof rep === 'number' ? new GuestResource(resource, rep) : rep;
}

function liftFlags(type: FlagsType, bits: number): HostValue {
  const flags = emptyRecord();
  for (const [bit, name] of type.names.entries()) flags[name] = ((bits >>> bit) & 1) === 1;
  return flags;
}

function liftChar(code: number): string {
  if (code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new GuestEnd('trap', `${code} is not a valid character`);
  return String.fromCodePoint(code);
}

/** The host sees a single NaN, because spare bits could carry hidden data. */
function canonicalFloat(value: number): number {
  return Number.isNaN(value) ? Number.NaN : value;
}

function loadUnsigned(view: DataView, address: number, size: number): number {
  if (size === 1) return view.getUint8(address);
  return size === 2 ? view.getUint16(address, true) : view.getUint32(address, true);
}

/** Has no prototype, because the guest chooses the field names. */
function emptyRecord(): Record<string, HostValue> {
  return Object.create(null) as Record<string, HostValue>;
}
