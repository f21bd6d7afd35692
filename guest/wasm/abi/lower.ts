/**
 * Canonical ABI, lowering: host values become core values and guest memory. Memory comes from the guest's own
 * allocator, so the address it returns is checked like any other.
 *
 * @module
 */

import { GuestEnd, type HostResource, type HostValue } from '../contract.ts';
import type { AbiContext } from './context.ts';
import { widen, wrongType, type CoreValue } from './flat.ts';
import { GuestResource } from './resources.ts';
import { storeString } from './strings.ts';
import {
  MAX_FLAT_RESULTS,
  type AbiType,
  type CasesType,
  type FieldsType,
  type FlagsType,
  type HandleType,
  type ListType,
  type PrimitiveType,
} from './types.ts';

/** Core arguments for a guest function. */
export function lowerParams(
  context: AbiContext,
  type: FieldsType | undefined,
  args: readonly HostValue[],
): CoreValue[] {
  if (type === undefined) return [];
  context.refresh();
  const lowering = new Lowering(context);
  const out: CoreValue[] = [];
  if (type.flat !== undefined) {
    for (const [index, field] of type.fields.entries()) lowering.flatten(field.type, args[index], out);
    return out;
  }
  const address = context.allocate(type.size, type.align);
  for (const [index, field] of type.fields.entries())
    lowering.store(field.type, args[index], address + field.offset);
  return [address];
}

/** The value returned to a guest that called a host function. `address`: where the guest wants a result in memory. */
export function lowerResult(
  context: AbiContext,
  type: AbiType | undefined,
  result: { value: HostValue; address: unknown },
): CoreValue | undefined {
  if (type === undefined) return undefined;
  context.refresh();
  const lowering = new Lowering(context);
  if (!goesByMemory(type)) {
    const out: CoreValue[] = [];
    lowering.flatten(type, result.value, out);
    return out[0];
  }
  if (typeof result.address !== 'number') throw wrongType();
  lowering.store(type, result.value, context.check(result.address, type.size, type.align));
  return undefined;
}

/** Whether a result is written to memory, at an address that the guest passes as the last argument. */
export function goesByMemory(type: AbiType | undefined): boolean {
  return type !== undefined && (type.flat === undefined || type.flat.length > MAX_FLAT_RESULTS);
}

class Lowering {
  readonly #context: AbiContext;

  constructor(context: AbiContext) {
    this.#context = context;
  }

  store(type: AbiType, value: HostValue, address: number): void {
    switch (type.kind) {
      case 'string':
        this.#storeString(value, address);
        return;
      case 'list':
        this.#storePair(address, this.#list(type, value));
        return;
      case 'record':
      case 'tuple':
        for (const field of type.fields)
          this.store(field.type, part(value, field.name), address + field.offset);
        return;
      case 'variant':
      case 'enum':
      case 'option':
      case 'result':
        this.#storeCases(type, value, address);
        return;
      case 'own':
      case 'borrow':
        this.#context.view.setUint32(address, this.#handle(type, value), true);
        return;
      case 'flags':
        storeUnsigned(this.#context.view, address, { size: type.size, value: flagBits(type, value) });
        return;
      default:
        storeScalar(this.#context.view, address, { kind: type.kind, value });
    }
  }

  flatten(type: AbiType, value: HostValue, out: CoreValue[]): void {
    switch (type.kind) {
      case 'string': {
        const { address, length } = storeString(this.#context, text(value));
        out.push(address | 0, length | 0);
        return;
      }
      case 'list': {
        const { address, length } = this.#list(type, value);
        out.push(address | 0, length | 0);
        return;
      }
      case 'record':
      case 'tuple':
        for (const field of type.fields) this.flatten(field.type, part(value, field.name), out);
        return;
      case 'variant':
      case 'enum':
      case 'option':
      case 'result':
        this.#flattenCases(type, value, out);
        return;
      case 'own':
      case 'borrow':
        out.push(this.#handle(type, value));
        return;
      case 'flags':
        out.push(flagBits(type, value));
        return;
      default:
        out.push(scalar(type.kind, value));
    }
  }

  #storeString(value: HostValue, address: number): void {
    this.#storePair(address, storeString(this.#context, text(value)));
  }

  #storePair(at: number, stored: { address: number; length: number }): void {
    // Read only now, because allocating may have moved the memory.
    const { view } = this.#context;
    view.setUint32(at, stored.address, true);
    view.setUint32(at + 4, stored.length, true);
  }

  #list(type: ListType, value: HostValue): { address: number; length: number } {
    const { element } = type;
    if (element.kind === 'u8') return this.#bytes(value);
    if (!Array.isArray(value)) throw mismatch('list', value);
    const address = this.#context.allocate(value.length * element.size, element.align);
    for (let index = 0; index < value.length; index += 1) {
      this.store(element, value[index], address + index * element.size);
    }
    return { address, length: value.length };
  }

  #bytes(value: HostValue): { address: number; length: number } {
    if (!(value instanceof Uint8Array)) throw mismatch('list<u8>', value);
    const address = this.#context.allocate(value.length, 1);
    this.#context.bytes.set(value, address);
    return { address, length: value.length };
  }

  #storeCases(type: CasesType, value: HostValue, address: number): void {
    const index = caseIndex(type, value);
    storeUnsigned(this.#context.view, address, { size: type.discriminant, value: index });
    const payload = type.cases[index]?.type;
    if (payload !== undefined)
      this.store(payload, casePayload(type, value, index), address + type.payloadOffset);
  }

  #flattenCases(type: CasesType, value: HostValue, out: CoreValue[]): void {
    const index = caseIndex(type, value);
    out.push(index);
    const start = out.length;
    const payload = type.cases[index]?.type;
    if (payload !== undefined) this.flatten(payload, casePayload(type, value, index), out);
    widen(out, start, { shared: type.flat ?? [], own: payload?.flat ?? [] });
  }

  #handle(type: HandleType, value: HostValue): number {
    const { resource } = type;
    const rep = resourceRep(type, value);
    const { border, scope } = this.#context;
    if (type.kind === 'own') return border.handles.add(resource, rep);
    // A component that borrows its own resource gets its representation, not a handle.
    if (resource.owner === border.id && typeof rep === 'number') return rep;
    if (scope === undefined) throw mismatch('borrow', value);
    return border.handles.add(resource, rep, scope);
  }
}

function resourceRep(type: HandleType, value: HostValue): HostResource | number {
  if (type.resource.owner === undefined) {
    if (typeof value === 'object' && value !== null && !(value instanceof GuestResource)) return value;
  } else if (value instanceof GuestResource && value.type === type.resource) {
    return value.rep;
  }
  throw mismatch(type.resource.name, value);
}

function caseIndex(type: CasesType, value: HostValue): number {
  switch (type.kind) {
    case 'option':
      return value === undefined ? 0 : 1;
    case 'result':
      if (!isPlain(value)) throw mismatch('result', value);
      return 'err' in value ? 1 : 0;
    case 'enum':
      return namedCase(type, value);
    default:
      return namedCase(type, part(value, 'tag'));
  }
}

function namedCase(type: CasesType, name: HostValue): number {
  const index = typeof name === 'string' ? type.indexOf.get(name) : undefined;
  if (index === undefined) throw mismatch(type.kind, name);
  return index;
}

function casePayload(type: CasesType, value: HostValue, index: number): HostValue {
  if (type.kind === 'variant') return part(value, 'val');
  if (type.kind === 'result') return part(value, index === 0 ? 'ok' : 'err');
  return type.cases[1]?.type?.kind === 'option' ? part(value, 'some') : value;
}

function flagBits(type: FlagsType, value: HostValue): number {
  let bits = 0;
  for (const [bit, name] of type.names.entries()) {
    if (part(value, name) === true) bits |= 1 << bit;
  }
  return bits;
}

type ScalarKind = Exclude<PrimitiveType['kind'], 'string'>;

function scalar(kind: ScalarKind, value: HostValue): CoreValue {
  if (kind === 'bool') return value === true ? 1 : 0;
  if (kind === 'char') return codePoint(value);
  if (kind === 'u64' || kind === 's64') {
    if (typeof value !== 'bigint') throw mismatch(kind, value);
    return BigInt.asIntN(64, value);
  }
  if (typeof value !== 'number') throw mismatch(kind, value);
  return kind === 'f32' || kind === 'f64' ? value : integer(kind, value);
}

const INTEGER_RANGES = {
  u8: [0, 0xff],
  s8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  s16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  s32: [-0x8000_0000, 0x7fff_ffff],
} as const;

function integer(kind: keyof typeof INTEGER_RANGES, value: number): number {
  const [least, most] = INTEGER_RANGES[kind];
  if (!Number.isInteger(value) || value < least || value > most) throw mismatch(kind, value);
  return value | 0;
}

function storeScalar(view: DataView, address: number, given: { kind: ScalarKind; value: HostValue }): void {
  const value = scalar(given.kind, given.value);
  if (typeof value === 'bigint') view.setBigInt64(address, value, true);
  else if (given.kind === 'f32') storeFloat32(view, address, value);
  else if (given.kind === 'f64') storeFloat64(view, address, value);
  else storeUnsigned(view, address, { size: SCALAR_SIZES[given.kind], value });
}

const SCALAR_SIZES: Record<Exclude<ScalarKind, 'f32' | 'f64'>, number> = {
  bool: 1,
  u8: 1,
  s8: 1,
  u16: 2,
  s16: 2,
  u32: 4,
  s32: 4,
  u64: 8,
  s64: 8,
  char: 4,
};

/** Engines may produce any NaN; the guest must always see the same one. */
function storeFloat32(view: DataView, address: number, value: number): void {
  if (Number.isNaN(value)) view.setUint32(address, 0x7fc0_0000, true);
  else view.setFloat32(address, value, true);
}

function storeFloat64(view: DataView, address: number, value: number): void {
  if (Number.isNaN(value)) view.setBigUint64(address, 0x7ff8_0000_0000_0000n, true);
  else view.setFloat64(address, value, true);
}

function storeUnsigned(view: DataView, address: number, given: { size: number; value: number }): void {
  if (given.size === 1) view.setUint8(address, given.value);
  else if (given.size === 2) view.setUint16(address, given.value, true);
  else view.setUint32(address, given.value, true);
}

function codePoint(value: HostValue): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
  if (code === undefined || String.fromCodePoint(code) !== value || (code >= 0xd800 && code <= 0xdfff)) {
    throw mismatch('char', value);
  }
  return code;
}

function text(value: HostValue): string {
  if (typeof value !== 'string') throw mismatch('string', value);
  return value;
}

/**
 * Reads plain data only: the component declares what a host function returns, and could declare a resource as a record
 * to read the host's internal state.
 */
function part(value: HostValue, name: string): HostValue {
  if (!isPlain(value)) throw mismatch(`an object with "${name}"`, value);
  return value[name];
}

function isPlain(value: HostValue): value is Record<string, HostValue> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

/** The host's type differs from the one the component declared for it. Either side may be wrong. */
function mismatch(wanted: string, value: HostValue): GuestEnd {
  return new GuestEnd(
    'trap',
    `The component expects ${wanted}, but the host returned ${value === null ? 'null' : typeof value}`,
  );
}
