/**
 * A component's imports from the host, by interface. Versions are stripped, because the host implements one per package.
 *
 * @module
 */

import type { Declaration, ExternDesc, HostFunction, HostInterfaces } from '../contract.ts';
import { LinkError } from './errors.ts';
import type { HostTarget } from './plan.ts';
import { at, outer, type Entity, type InstanceEntity, type TypeEntity, type TypeScope } from './scope.ts';
import { funcTypeAt, resolveType } from './types.ts';

/** Versions that the host implements. Names without a version are accepted as they are. */
const COMPATIBLE_VERSIONS: ReadonlyMap<string, RegExp> = new Map([
  ['wasi', /^0\.2\.\d+$/],
  ['skillcell', /^0\.1\.\d+$/],
]);

/** Interfaces and functions by name, safe to look up with any name. */
export type HostIndex = ReadonlyMap<string, ReadonlyMap<string, HostFunction>>;

export function indexHost(host: HostInterfaces): HostIndex {
  return new Map(Object.entries(host).map(([name, functions]) => [name, new Map(Object.entries(functions))]));
}

/** `wasi:io/streams@0.2.3` → `wasi:io/streams`; `undefined` if the host has another version. */
export function unversioned(name: string): string | undefined {
  const mark = name.indexOf('@');
  if (mark === -1) return name;
  const versions = COMPATIBLE_VERSIONS.get(name.slice(0, name.indexOf(':')));
  return versions?.test(name.slice(mark + 1)) === true ? name.slice(0, mark) : undefined;
}

/** An imported instance, built from host functions and the types that the component declares for them. */
export function importInterface(host: HostIndex, name: string, type: TypeEntity): InstanceEntity {
  if (type.kind !== 'instance')
    throw new LinkError(`Import "${name}" has no instance type`, { interface: name });
  const plain = unversioned(name);
  const functions = plain === undefined ? undefined : host.get(plain);
  const inner: Inner = { types: [], parent: type.scope, name, functions, exports: new Map() };
  for (const declaration of type.declarations) declare(inner, declaration);
  // An interface that has only types needs no host.
  return inner.exports;
}

/** The contents of an instance type. */
interface Inner extends TypeScope {
  name: string;
  functions: ReadonlyMap<string, HostFunction> | undefined;
  exports: Map<string, Entity>;
}

function declare(inner: Inner, declaration: Declaration): void {
  switch (declaration.kind) {
    case 'type':
      if (declaration.type.kind === 'resource')
        throw new LinkError('A resource is defined inside an instance type');
      inner.types.push(resolveType(inner, declaration.type));
      return;
    case 'core-type':
      return;
    case 'alias':
      inner.types.push(aliasedType(inner, declaration));
      return;
    case 'import':
      throw new LinkError('An instance type contains an import');
    case 'export':
      declareExport(inner, declaration.name, declaration.desc);
  }
}

function aliasedType(inner: Inner, { sort, target }: Extract<Declaration, { kind: 'alias' }>): TypeEntity {
  if (sort !== 'type') throw new LinkError(`Import "${inner.name}" aliases something other than a type`);
  if (!('outer' in target))
    throw new LinkError(`Import "${inner.name}" aliases an export of a nested instance`);
  return at(outer<TypeScope>(inner, target.outer.count).types, target.outer.index, 'type');
}

function declareExport(inner: Inner, name: string, desc: ExternDesc): void {
  if (desc.kind === 'func') {
    const type = funcTypeAt(inner, desc.type);
    inner.exports.set(name, { sort: 'func', value: { type, host: hostTarget(inner, name) } });
  } else if (desc.kind === 'type') {
    const value = importedType(inner, desc.bound, `${inner.name}#${name}`);
    inner.types.push(value);
    inner.exports.set(name, { sort: 'type', value });
  } else {
    throw new LinkError(`Import "${inner.name}" requires a ${desc.kind} "${name}" of the host`, {
      interface: inner.name,
    });
  }
}

/** A host resource is identified by this declaration; other uses refer to it by alias. */
export function importedType(
  scope: TypeScope,
  bound: Extract<ExternDesc, { kind: 'type' }>['bound'],
  name: string,
): TypeEntity {
  if (bound !== 'sub-resource') return at(scope.types, bound.eq, 'type');
  return { kind: 'resource', resource: { name, owner: undefined } };
}

function hostTarget(inner: Inner, name: string): HostTarget {
  const host = inner.functions?.get(name);
  if (host !== undefined) return { interface: inner.name, name, host };
  const what = inner.functions === undefined ? `interface "${inner.name}"` : `"${name}" of "${inner.name}"`;
  throw new LinkError(`The component imports ${what}, which the host does not have`, {
    interface: inner.name,
    function: name,
  });
}
