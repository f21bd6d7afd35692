/**
 * Resolves the types of a component against its index space.
 *
 * @module
 */

import type { TypeDef, ValType } from '../contract.ts';
import type { ResourceType } from '../abi/resources.ts';
import {
  enumType,
  flagsType,
  funcType,
  handleType,
  listType,
  optionType,
  primitiveType,
  recordType,
  resultType,
  tupleType,
  variantType,
  type AbiType,
  type FuncType,
} from '../abi/types.ts';
import { PRIMITIVES } from '../binary/component-types.ts';
import { LinkError } from './errors.ts';
import { at, type TypeEntity, type TypeScope } from './scope.ts';

const primitives = new Map<string, AbiType>(PRIMITIVES.map((kind) => [kind, primitiveType(kind)]));

/** All types except resources, whose identity depends on where they are defined. */
export function resolveType(scope: TypeScope, def: Exclude<TypeDef, { kind: 'resource' }>): TypeEntity {
  switch (def.kind) {
    case 'func':
      return { kind: 'func', type: resolveFunc(scope, def) };
    case 'instance':
      return { kind: 'instance', declarations: def.declarations, scope };
    case 'component':
      return { kind: 'component' };
    default:
      return { kind: 'value', type: resolveDefinedValue(scope, def) };
  }
}

export function funcTypeAt(scope: TypeScope, index: number): FuncType {
  const entity = at(scope.types, index, 'type');
  if (entity.kind !== 'func') throw new LinkError(`Type ${index} is not a function type`);
  return entity.type;
}

export function resourceAt(scope: TypeScope, index: number): ResourceType {
  const entity = at(scope.types, index, 'type');
  if (entity.kind !== 'resource') throw new LinkError(`Type ${index} is not a resource`);
  return entity.resource;
}

type ValueDef = Exclude<TypeDef, { kind: 'func' | 'instance' | 'component' | 'resource' }>;

function resolveDefinedValue(scope: TypeScope, def: ValueDef): AbiType {
  switch (def.kind) {
    case 'primitive':
      return valueType(scope, def.primitive);
    case 'record':
      return recordType(def.fields.map(({ name, type }) => ({ name, type: valueType(scope, type) })));
    case 'variant':
      return variantType(def.cases.map(({ name, type }) => ({ name, type: optional(scope, type) })));
    case 'list':
      return listType(valueType(scope, def.element));
    case 'tuple':
      return tupleType(def.types.map((type) => valueType(scope, type)));
    case 'flags':
      return flagsType(def.names);
    case 'enum':
      return enumType(def.names);
    case 'option':
      return optionType(valueType(scope, def.type));
    case 'result':
      return resultType(optional(scope, def.ok), optional(scope, def.err));
    default:
      return handleType(def.kind, resourceAt(scope, def.resource));
  }
}

function resolveFunc(scope: TypeScope, def: Extract<TypeDef, { kind: 'func' }>): FuncType {
  return funcType(
    def.params.map(({ name, type }) => ({ name, type: valueType(scope, type) })),
    optional(scope, def.result),
  );
}

function optional(scope: TypeScope, type: ValType | undefined): AbiType | undefined {
  return type === undefined ? undefined : valueType(scope, type);
}

function valueType(scope: TypeScope, type: ValType): AbiType {
  if (typeof type === 'string') {
    const primitive = primitives.get(type);
    if (primitive === undefined) throw new LinkError(`There is no type "${type}"`);
    return primitive;
  }
  const entity = at(scope.types, type.type, 'type');
  if (entity.kind !== 'value') throw new LinkError(`Type ${type.type} is not a value type`);
  return entity.type;
}
