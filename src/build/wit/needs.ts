/**
 * Determines the interfaces, functions and types that a component must import for its core module.
 *
 * @module
 */
import { HOST } from './host.ts';
import { SKILLS } from './skills.ts';
import { membersOf, partsOf, type Interface, type Type } from './types.ts';
import { HTTP_OUTGOING_HANDLER, HTTP_TYPES } from './wasi-http.ts';
import { IO_ERROR, IO_POLL, IO_STREAMS } from './wasi-io.ts';

/** An interface comes after those whose types it uses. */
const INTERFACES: readonly Interface[] = [
  HOST,
  SKILLS,
  IO_ERROR,
  IO_POLL,
  IO_STREAMS,
  HTTP_TYPES,
  HTTP_OUTGOING_HANDLER,
];
const DROP = '[resource-drop]';

/** An import of a core module. */
export interface CoreImport {
  module: string;
  name: string;
}

export interface Need {
  of: Interface;
  functions: readonly string[];
  /** Types that other interfaces use. */
  types: readonly string[];
}

export function interfaceOf(id: string): Interface | undefined {
  return INTERFACES.find((candidate) => candidate.id === id);
}

/** The resource that an import drops, if it is a drop function. */
export function droppedResource(importName: string): string | undefined {
  return importName.startsWith(DROP) ? importName.slice(DROP.length) : undefined;
}

export function isKnown({ module, name }: CoreImport): boolean {
  const of = interfaceOf(module);
  const resource = droppedResource(name);
  if (of === undefined) return false;
  return resource === undefined ? Object.hasOwn(of.functions, name) : isResource(resource, of);
}

function isResource(label: string, of: Interface): boolean {
  return Object.hasOwn(of.types, label) && of.types[label] === 'resource';
}

/** In the order in which the interfaces must be imported. */
export function needsOf(imports: readonly CoreImport[]): Need[] {
  const outside = new Map(INTERFACES.map((of) => [of, new Set<string>()]));
  const needs: Need[] = [];
  for (const of of INTERFACES.toReversed()) {
    const names = imports.filter(({ module }) => module === of.id).map(({ name }) => name);
    const functions = names.filter((name) => droppedResource(name) === undefined);
    const dropped = names.map(droppedResource).filter((name) => name !== undefined);
    const types = [...new Set([...(outside.get(of) ?? []), ...dropped])];
    for (const label of usedBy(of, functions, types)) {
      const source = of.uses[label];
      if (source) outside.get(source)?.add(label);
    }
    if (names.length > 0 || types.length > 0) needs.unshift({ of, functions, types });
  }
  return needs;
}

/** All type names that the functions and types refer to, directly or indirectly. */
function usedBy(of: Interface, functions: readonly string[], types: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (type: Type): void => {
    if (typeof type !== 'string') return partsOf(type).forEach(visit);
    if (found.has(type)) return;
    found.add(type);
    const definition = of.types[type];
    if (definition) membersOf(definition).forEach(visit);
  };
  types.forEach(visit);
  for (const key of functions) {
    const { params = {}, result } = of.functions[key] ?? {};
    Object.values(params).forEach(visit);
    if (result !== undefined) visit(result);
  }
  return found;
}
