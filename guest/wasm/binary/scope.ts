/**
 * Index spaces of a component while it is read: what each index refers to, as far as checks need it.
 *
 * @module
 */
import type { CoreSort, Sort, TypeDef } from '../contract.ts';
import { CAPS } from '../install/caps.ts';
import { uniquenessKey } from './names.ts';
import type { Reader } from './reader.ts';

export type SortName = Exclude<Sort, object> | `core ${CoreSort}`;

/** A type, with the space that its indices refer to. */
export interface TypeItem {
  def: TypeDef;
  space: readonly Item[];
  /** Depth and size of a value type, including everything it refers to. */
  depth: number;
  nodes: number;
  /** Exports of an instance or component type. */
  exports?: ReadonlyMap<string, Item>;
}

/** The resources that one instance of a module or component adds. */
export interface Weight {
  instances: number;
  /** Initial pages of memory. */
  pages: number;
  memories: number;
  tables: number;
}

/** Weight of an import that is known only when linked: assume more than one of everything that can be shared. */
const UNKNOWN_WEIGHT: Weight = { instances: 1, pages: 0, memories: 2, tables: 2 };

/** The definition at one index. */
export interface Item {
  sort: SortName;
  /** For a type, and the type of a function. */
  type?: TypeItem;
  /** For an instance or a component. */
  exports?: ReadonlyMap<string, Item>;
  /** For a core module or core instance, if known. */
  coreExports?: ReadonlyMap<string, CoreSort>;
  /** For a component or core module. */
  weight?: Weight;
}

/** One component, component type or instance type. */
export class Scope {
  readonly parent: Scope | undefined;
  readonly isType: boolean;
  readonly depth: number;
  readonly exports: Map<string, Item> = new Map<string, Item>();
  /** Total of everything instantiated here. */
  readonly weight: Weight = { instances: 1, pages: 0, memories: 0, tables: 0 };
  readonly #spaces: Map<SortName, Item[]> = new Map();
  readonly #importKeys: Set<string> = new Set();
  readonly #exportKeys: Set<string> = new Set();

  constructor(parent: Scope | undefined, isType: boolean) {
    this.parent = parent;
    this.isType = isType;
    this.depth = parent === undefined || parent.isType !== isType ? 1 : parent.depth + 1;
  }

  space(sort: SortName): Item[] {
    let space = this.#spaces.get(sort);
    if (space === undefined) {
      space = [];
      this.#spaces.set(sort, space);
    }
    return space;
  }

  add(item: Item): void {
    this.space(item.sort).push(item);
  }

  /** Counts what an instance of `item` adds, because a few bytes can request millions of instances. */
  instantiate(item: Item, reader: Reader): void {
    const { instances, pages, memories, tables } = item.weight ?? UNKNOWN_WEIGHT;
    this.weight.instances += instances;
    this.weight.pages += pages;
    this.weight.memories += memories;
    this.weight.tables += tables;
    if (this.weight.instances > CAPS.instances)
      reader.fail(`More than ${CAPS.instances} instances are created`);
  }

  /** Reads an index that must already be defined. */
  index(reader: Reader, sort: SortName): number {
    return reader.index(this.space(sort).length, sort);
  }

  item(sort: SortName, index: number): Item {
    return this.space(sort)[index] as Item;
  }

  claimImport(name: string, reader: Reader): void {
    claim(this.#importKeys, name, reader);
  }

  claimExport(name: string, item: Item, reader: Reader): void {
    claim(this.#exportKeys, name, reader);
    this.exports.set(name, item);
  }
}

function claim(keys: Set<string>, name: string, reader: Reader): void {
  const key = uniquenessKey(name);
  if (keys.has(key)) reader.fail(`Two imports or two exports have the name "${name}"`);
  keys.add(key);
}

export function sortName(sort: Sort): SortName {
  return typeof sort === 'string' ? sort : `core ${sort.core}`;
}
