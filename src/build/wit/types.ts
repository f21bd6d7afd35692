/**
 * WIT interfaces as data: the functions that a component can import, and their types.
 *
 * @module
 */

/** A primitive, the name of a type of the interface, or a composite type. */
export type Type =
  | string
  | { list: Type }
  | { option: Type }
  | { tuple: readonly Type[] }
  | { ok?: Type | undefined; err?: Type | undefined }
  | { own: string }
  | { borrow: string };

/** A named type. */
export type Definition =
  | 'resource'
  | { enum: readonly string[] }
  | { record: Readonly<Record<string, Type>> }
  | { variant: Readonly<Record<string, Type | undefined>> };

export interface FunctionType {
  params: Readonly<Record<string, Type>>;
  result?: Type;
}

export interface Interface {
  /** Such as `wasi:io/poll@0.2.0`. */
  id: string;
  /** Types defined by other interfaces: name to interface. */
  uses: Readonly<Record<string, Interface>>;
  types: Readonly<Record<string, Definition>>;
  functions: Readonly<Record<string, FunctionType>>;
}

export const list = (element: Type): Type => ({ list: element });
export const option = (some: Type): Type => ({ option: some });
export const result = (ok?: Type, err?: Type): Type => ({ ok, err });
export const own = (resource: string): Type => ({ own: resource });
export const borrow = (resource: string): Type => ({ borrow: resource });

/** The definition of a name, and the interface it belongs to. */
export function resolve(label: string, of: Interface): { definition: Definition; of: Interface } {
  const definition = of.types[label];
  if (definition !== undefined) return { definition, of };
  const source = of.uses[label];
  if (source === undefined) throw new Error(`The interface "${of.id}" has no type "${label}"`);
  return resolve(label, source);
}

/** The types that a type contains. */
export function partsOf(type: Exclude<Type, string>): Type[] {
  if ('list' in type) return [type.list];
  if ('option' in type) return [type.option];
  if ('tuple' in type) return [...type.tuple];
  if ('own' in type) return [type.own];
  if ('borrow' in type) return [type.borrow];
  return [type.ok, type.err].filter((part) => part !== undefined);
}

/** The types that a definition contains. */
export function membersOf(definition: Definition): Type[] {
  if (definition === 'resource' || 'enum' in definition) return [];
  const members = 'record' in definition ? definition.record : definition.variant;
  return Object.values(members).filter((member) => member !== undefined);
}
