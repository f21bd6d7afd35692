/**
 * The type of an imported instance in the component binary format.
 *
 * @module
 */
import { list, name, signed, u32, type Bytes } from '../binary.ts';
import type { Need } from './needs.ts';
import type { Definition, FunctionType, Interface, Type } from './types.ts';

const PRIMITIVES: Readonly<Record<string, number>> = {
  bool: 0x7f,
  u8: 0x7d,
  u16: 0x7b,
  u32: 0x79,
  u64: 0x77,
  string: 0x73,
};
const NONE: Bytes = [0x00];
const SORT_TYPE = 0x03;

/** Returns the index of a type of another interface in the enclosing component. */
export type OuterTypes = (label: string, from: Interface) => number;

export function instanceType(need: Need, outer: OuterTypes): Bytes {
  return new Declarations(need.of, outer).encode(need);
}

/** Declares types and exports in order; both add to the type index space. */
class Declarations {
  readonly #of: Interface;
  readonly #outer: OuterTypes;
  readonly #items: Bytes[] = [];
  /** Type indices by name, or by definition for unnamed types; each is declared once. */
  readonly #known = new Map<string, number>();
  #types = 0;

  constructor(of: Interface, outer: OuterTypes) {
    this.#of = of;
    this.#outer = outer;
  }

  encode({ functions, types }: Need): Bytes {
    for (const label of types) this.#named(label);
    for (const key of functions) {
      const func = this.#of.functions[key];
      if (func) this.#func(key, func);
    }
    return [0x42, ...list(this.#items)];
  }

  #func(label: string, { params, result }: FunctionType): void {
    const named = Object.entries(params).map(([key, type]) => labelled(key, this.#value(type)));
    const results = result === undefined ? [0x01, 0x00] : [0x00, ...this.#value(result)];
    const index = this.#declare([0x40, ...list(named), ...results]);
    this.#items.push([0x04, 0x00, ...name(label), 0x01, ...u32(index)]);
  }

  /** A reference to a type from a function or another type. */
  #value(type: Type): Bytes {
    if (typeof type !== 'string') return signed(this.#compound(type));
    const primitive = PRIMITIVES[type];
    return primitive === undefined ? signed(this.#named(type)) : [primitive];
  }

  #optional(type: Type | undefined): Bytes {
    return type === undefined ? NONE : [0x01, ...this.#value(type)];
  }

  #compound(type: Exclude<Type, string>): number {
    const key = JSON.stringify(type);
    const index = this.#known.get(key) ?? this.#declare(this.#written(type));
    this.#known.set(key, index);
    return index;
  }

  #written(type: Exclude<Type, string>): Bytes {
    if ('list' in type) return [0x70, ...this.#value(type.list)];
    if ('option' in type) return [0x6b, ...this.#value(type.option)];
    if ('tuple' in type) return [0x6f, ...list(type.tuple.map((item) => this.#value(item)))];
    if ('own' in type) return [0x69, ...u32(this.#named(type.own))];
    if ('borrow' in type) return [0x68, ...u32(this.#named(type.borrow))];
    return [0x6a, ...this.#optional(type.ok), ...this.#optional(type.err)];
  }

  /** A type must be exported by name before a function may use it. */
  #named(label: string): number {
    const index = this.#known.get(label) ?? this.#export(label, this.#bound(label));
    this.#known.set(label, index);
    return index;
  }

  #bound(label: string): Bytes {
    const definition = this.#of.types[label];
    if (definition === 'resource') return [0x01];
    const index = definition ? this.#declare(this.#defined(definition)) : this.#fromOutside(label);
    return [0x00, ...u32(index)];
  }

  #defined(definition: Exclude<Definition, 'resource'>): Bytes {
    if ('enum' in definition) return [0x6d, ...list(definition.enum.map(name))];
    if ('record' in definition) {
      const fields = Object.entries(definition.record);
      return [0x72, ...list(fields.map(([key, type]) => labelled(key, this.#value(type))))];
    }
    const cases = Object.entries(definition.variant);
    return [0x71, ...list(cases.map(([key, type]) => this.#case(key, type)))];
  }

  #case(label: string, type: Type | undefined): Bytes {
    return [...labelled(label, this.#optional(type)), ...NONE];
  }

  #fromOutside(label: string): number {
    const source = this.#of.uses[label];
    if (source === undefined) throw new Error(`The interface "${this.#of.id}" has no type "${label}"`);
    this.#items.push([0x02, SORT_TYPE, 0x02, 0x01, ...u32(this.#outer(label, source))]);
    return this.#types++;
  }

  #declare(definition: Bytes): number {
    this.#items.push([0x01, ...definition]);
    return this.#types++;
  }

  #export(label: string, bound: Bytes): number {
    this.#items.push([0x04, 0x00, ...name(label), SORT_TYPE, ...bound]);
    return this.#types++;
  }
}

function labelled(label: string, type: Bytes): Bytes {
  return [...name(label), ...type];
}
