/**
 * Parts of component sections: names, sorts, aliases, core types, and descriptions of imports and exports.
 *
 * @module
 */
import type { AliasTarget, CoreSort, ExternDesc, Sort } from '../contract.ts';
import { CAPS } from '../install/caps.ts';
import { readFuncType, readGlobalType, readLimits, readTableType, readTagType } from './core-types.ts';
import { isExternName, isLabel } from './names.ts';
import type { Reader } from './reader.ts';
import { sortName, type Item, type Scope, type TypeItem } from './scope.ts';

const CORE_SORTS: ReadonlyMap<number, CoreSort> = new Map<number, CoreSort>([
  [0x00, 'func'],
  [0x01, 'table'],
  [0x02, 'memory'],
  [0x03, 'global'],
  [0x10, 'type'],
  [0x11, 'module'],
  [0x12, 'instance'],
]);

/** For the whole file. */
export interface Totals {
  definitions: number;
  /** Names that core instances are linked by. */
  coreNames: Set<string>;
}

export function countDefinition(totals: Totals, reader: Reader): void {
  totals.definitions++;
  if (totals.definitions > CAPS.definitions)
    reader.fail(`A component has more than ${CAPS.definitions} definitions`);
}

export function readLabel(reader: Reader): string {
  const offset = reader.position;
  const label = reader.name(CAPS.nameBytes);
  if (!isLabel(label)) reader.fail('A label is not in kebab case', offset);
  return label;
}

/** The name of an import or export. Other attributes, such as a version suffix, are only for people. */
export function readExternName(reader: Reader): string {
  const form = reader.byte();
  if (form > 2) reader.fail('An import or export name has an unknown encoding', reader.position - 1);
  const offset = reader.position;
  const name = reader.name(CAPS.nameBytes);
  if (name.startsWith('[async')) reader.fail('Asynchronous functions are not allowed', offset);
  if (!isExternName(name))
    reader.fail('An import or export name is neither kebab case nor an interface name', offset);
  if (form === 2) readAttributes(reader);
  return name;
}

function readAttributes(reader: Reader): void {
  const count = reader.count(3, 'attributes of a name');
  for (let index = 0; index < count; index++) {
    if (reader.byte() > 2) reader.fail('A name has an unknown attribute', reader.position - 1);
    reader.name(CAPS.nameBytes);
  }
}

export function readCoreSort(reader: Reader): CoreSort {
  const offset = reader.position;
  const code = reader.byte();
  if (code === 0x04)
    reader.fail('Exception tags cannot be passed between the modules of a component', offset);
  return CORE_SORTS.get(code) ?? reader.fail('A core definition has an unknown sort', offset);
}

export function readSort(reader: Reader): Sort {
  const offset = reader.position;
  switch (reader.byte()) {
    case 0x00:
      return { core: readCoreSort(reader) };
    case 0x01:
      return 'func';
    case 0x02:
      return reader.fail('Component values are not allowed', offset);
    case 0x03:
      return 'type';
    case 0x04:
      return 'component';
    case 0x05:
      return 'instance';
    default:
      return reader.fail('A definition has an unknown sort', offset);
  }
}

export interface Alias {
  sort: Sort;
  target: AliasTarget;
  item: Item;
}

export function readAlias(reader: Reader, scope: Scope, totals: Totals): Alias {
  const sort = readSort(reader);
  const offset = reader.position;
  switch (reader.byte()) {
    case 0x00:
      return readExportAlias(reader, scope, sort);
    case 0x01:
      return readCoreAlias(reader, scope, { sort, totals });
    case 0x02:
      return readOuterAlias(reader, scope, sort);
    default:
      return reader.fail('An alias has an unknown kind', offset);
  }
}

function readExportAlias(reader: Reader, scope: Scope, sort: Sort): Alias {
  const offset = reader.position;
  const instance = scope.index(reader, 'instance');
  const name = reader.name(CAPS.nameBytes);
  const item = scope.item('instance', instance).exports?.get(name);
  if (item === undefined || item.sort !== sortName(sort)) {
    reader.fail(`Instance ${instance} does not export the ${sortName(sort)} that an alias names`, offset);
  }
  return { sort, target: { export: { instance, name } }, item };
}

function readCoreAlias(
  reader: Reader,
  scope: Scope,
  { sort, totals }: { sort: Sort; totals: Totals },
): Alias {
  const offset = reader.position;
  const instance = scope.index(reader, 'core instance');
  const name = reader.name(CAPS.nameBytes);
  totals.coreNames.add(name);
  if (typeof sort === 'string') reader.fail('A core instance can only export core definitions', offset);
  const known = scope.item('core instance', instance).coreExports;
  if (known !== undefined && known.get(name) !== sort.core) {
    reader.fail(`Core instance ${instance} does not export the ${sort.core} that an alias names`, offset);
  }
  return { sort, target: { coreExport: { instance, name } }, item: { sort: sortName(sort) } };
}

const OUTER_SORTS: ReadonlySet<string> = new Set(['type', 'component', 'core type', 'core module']);

function readOuterAlias(reader: Reader, scope: Scope, sort: Sort): Alias {
  const offset = reader.position;
  if (!OUTER_SORTS.has(sortName(sort))) reader.fail(`A ${sortName(sort)} cannot be an outer alias`, offset);
  const count = reader.u32();
  let target: Scope | undefined = scope;
  for (let level = 0; level < count && target !== undefined; level++) target = target.parent;
  if (target === undefined)
    reader.fail(`An outer alias refers to enclosing component ${count}, which does not exist`, offset);
  const index = target.index(reader, sortName(sort));
  return { sort, target: { outer: { count, index } }, item: target.item(sortName(sort), index) };
}

export interface Description {
  desc: ExternDesc;
  item: Item;
}

/** The type of an import or export. */
export function readExternDesc(reader: Reader, scope: Scope): Description {
  const offset = reader.position;
  switch (reader.byte()) {
    case 0x00:
      if (reader.byte() !== 0x11) reader.fail('Only core modules can be imported and exported', offset);
      return {
        desc: { kind: 'core-module', type: scope.index(reader, 'core type') },
        item: { sort: 'core module' },
      };
    case 0x01:
      return describe(reader, scope, 'func');
    case 0x02:
      return reader.fail('Component values are not allowed', offset);
    case 0x03:
      return describeType(reader, scope);
    case 0x04:
      return describe(reader, scope, 'component');
    case 0x05:
      return describe(reader, scope, 'instance');
    default:
      return reader.fail('An import or export has an unknown type', offset);
  }
}

function describe(reader: Reader, scope: Scope, kind: 'func' | 'component' | 'instance'): Description {
  const offset = reader.position;
  const index = scope.index(reader, 'type');
  const type = scope.item('type', index).type;
  if (type?.def.kind !== kind) reader.fail(`Type ${index} is not of kind ${kind}`, offset);
  const item: Item = {
    sort: kind,
    ...(kind === 'func' && { type }),
    ...(type.exports && { exports: type.exports }),
  };
  return { desc: { kind, type: index }, item };
}

function describeType(reader: Reader, scope: Scope): Description {
  const bound = reader.byte();
  if (bound === 0x01) {
    const type: TypeItem = { def: { kind: 'resource' }, space: [], depth: 1, nodes: 1 };
    return { desc: { kind: 'type', bound: 'sub-resource' }, item: { sort: 'type', type } };
  }
  if (bound !== 0x00) reader.fail('A type has an unknown bound', reader.position - 1);
  const index = scope.index(reader, 'type');
  return { desc: { kind: 'type', bound: { eq: index } }, item: scope.item('type', index) };
}

/** Core types only describe imported modules, which no host provides; they are read in order to skip them. */
export function skipCoreType(reader: Reader, scope: Scope): void {
  if (reader.peek() !== 0x50) return void readFuncType(reader);
  reader.skip(1);
  const count = reader.count(CAPS.definitions, 'declarations of a module type');
  let types = 0;
  for (let index = 0; index < count; index++) types += skipModuleDeclaration(reader, scope, types);
}

/** Returns the number of types added. */
function skipModuleDeclaration(reader: Reader, scope: Scope, types: number): number {
  const offset = reader.position;
  const kind = reader.byte();
  if (kind === 0x01) {
    readFuncType(reader);
    return 1;
  }
  if (kind === 0x02) {
    if (reader.byte() !== 0x10 || reader.byte() !== 0x01)
      reader.fail('A module type has an unknown alias', offset);
    let target: Scope | undefined = scope;
    const count = reader.u32();
    for (let level = 1; level < count && target !== undefined; level++) target = target.parent;
    if (target === undefined)
      reader.fail(`An outer alias refers to enclosing component ${count}, which does not exist`, offset);
    if (count === 0) reader.index(types, 'type');
    else target.index(reader, 'core type');
    return 1;
  }
  if (kind !== 0x00 && kind !== 0x03) reader.fail('A module type has an unknown declaration', offset);
  if (kind === 0x00) reader.name(CAPS.nameBytes);
  reader.name(CAPS.nameBytes);
  skipCoreExternType(reader, types);
  return 0;
}

function skipCoreExternType(reader: Reader, types: number): void {
  const kind = reader.byte();
  if (kind === 0) reader.index(types, 'type');
  else if (kind === 1) readTableType(reader);
  else if (kind === 2) readLimits(reader, 'memory');
  else if (kind === 3) readGlobalType(reader);
  else if (kind === 4) readTagType(reader, types);
  else reader.fail('An import or export has an unknown kind', reader.position - 1);
}
