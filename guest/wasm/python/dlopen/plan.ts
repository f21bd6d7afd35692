/**
 * Decides where libraries are placed and what their imports are, once, before anything runs: every later instance of the
 * engine has the same addresses and slots, so an image fits all of them.
 *
 * @module
 */
import type { FuncType } from '../../binary/core-types.ts';
import { digestOf } from './files.ts';
import { importedGlobals, LinkError, type Library } from './library.ts';
import { arityOf, engineName, type EngineSymbols } from './symbols.ts';
import type { OwnFunction } from './thunks.ts';

/** Entry points of extension modules; Python looks up no others. */
const ENTRY_POINT = /^PyInit_/;
const HEAP_ALIGNMENT = 16;

export interface LinkPlan {
  libraries: LibraryPlan[];
  /** Functions to put into the table one by one; `library` is an index, undefined for the engine. */
  added: { slot: number; library?: number; name: string }[];
  /** Size of the engine's table, with all entries. */
  tableSlots: number;
  /** The first address after the data of the libraries. */
  end: number;
  /** Slots of the entry points, by path and name. */
  entryPoints: Record<string, Record<string, number>>;
}

export interface LibraryPlan {
  path: string;
  sha256: string;
  memoryBase: number;
  tableBase: number;
  /** Values of its imports from `GOT.mem` and `GOT.func`. */
  addresses: Record<string, number>;
  slots: Record<string, number>;
  /** Indices of the libraries whose symbols it uses. */
  needed: number[];
  /** Functions that it imports from one of them, and from itself; all others come from the engine. */
  given: Record<string, number>;
  own: OwnFunction[];
}

export interface PlanOptions {
  engine: EngineSymbols;
  /** Sorted so that each comes after those that it needs. */
  libraries: readonly Library[];
  firstAddress: number;
  firstSlot: number;
}

export interface Planned {
  plan: LinkPlan;
  /** Names that the engine must export. */
  engineExports: string[];
  /** For every slot of the table. */
  arities: number[];
}

export function planLinks(options: PlanOptions): Planned {
  const planner = new Planner(options);
  for (const library of options.libraries) planner.add(library);
  return planner.result();
}

class Planner {
  readonly #engine: EngineSymbols;
  readonly #libraries: readonly Library[];
  readonly #plan: LinkPlan;
  readonly #arities: number[];
  readonly #used = new Set<string>();

  constructor({ engine, libraries, firstAddress, firstSlot }: PlanOptions) {
    this.#engine = engine;
    this.#libraries = libraries;
    this.#arities = [...engine.arities];
    this.#plan = { libraries: [], added: [], tableSlots: firstSlot, end: firstAddress, entryPoints: {} };
  }

  result(): Planned {
    // The heap of the C library starts here.
    this.#plan.end = Math.ceil(this.#plan.end / HEAP_ALIGNMENT) * HEAP_ALIGNMENT;
    return { plan: this.#plan, engineExports: [...this.#used], arities: this.#arities };
  }

  add(library: Library): void {
    const plan = this.#place(library);
    const index = this.#plan.libraries.push(plan) - 1;
    for (const { kind, module, name, type = 0 } of library.shape.module.imports) {
      if (module === 'env' && kind === 'tag') this.#useTag(library.path, name);
      if (module === 'env' && kind === 'func') this.#bindFunction(index, name, type);
    }
    for (const { module, name } of importedGlobals(library)) {
      if (module === 'GOT.mem') plan.addresses[name] = this.#address(library, index, name);
      else if (module === 'GOT.func') plan.slots[name] = this.#slot(library, index, name);
    }
    this.#addEntryPoints(library, index);
  }

  #place({ path, dylink, shape }: Library): LibraryPlan {
    const { memoryAlignment, memoryBytes, tableSlots, needed } = dylink;
    const memoryBase = Math.ceil(this.#plan.end / memoryAlignment) * memoryAlignment;
    const tableBase = this.#plan.tableSlots;
    this.#plan.end = memoryBase + memoryBytes;
    this.#plan.tableSlots += tableSlots;
    for (const { place, functions } of shape.elements)
      for (const [at, index] of functions.entries())
        this.#arities[tableBase + place.offset + at] = arityOf(shape, index);
    return {
      path,
      sha256: digestOf(shape.module.bytes),
      memoryBase,
      tableBase,
      addresses: {},
      slots: {},
      needed: needed.map((name) => this.#find(path, name)),
      given: {},
      own: [],
    };
  }

  #find(path: string, name: string): number {
    const placed = this.#libraries.slice(0, this.#plan.libraries.length);
    const index = placed.findIndex((one) => one.path.endsWith(`/${name}`));
    if (index < 0) throw new LinkError(path, `needs the library ${name}, which is missing`);
    return index;
  }

  /** The engine's symbols have priority, then those of the library itself, then those of the libraries that it needs. */
  #bindFunction(index: number, name: string, type: number): void {
    const [library, plan] = [this.#libraries[index] as Library, this.#plan.libraries[index] as LibraryPlan];
    if (this.#engine.functions.has(engineName(name))) return void this.#used.add(engineName(name));
    const owner = this.#ownerOf(index, name, 'func');
    if (owner === undefined) throw missing(library.path, `function ${name}`);
    if (owner !== index) return void (plan.given[name] = owner);
    const { params, results } = library.shape.module.types[type] as FuncType;
    const slot = this.#librarySlot(index, name);
    plan.own.push({ name, slot, params: [...params], results: [...results] });
  }

  #useTag(path: string, name: string): void {
    if (!this.#engine.tags.has(name)) throw missing(path, `exception ${name}`);
    this.#used.add(name);
  }

  #exportOf(library: number, name: string, kind: 'func' | 'global'): number | undefined {
    return this.#libraries[library]?.shape.module.exports.find(
      (one) => one.name === name && one.kind === kind,
    )?.index;
  }

  #ownerOf(index: number, name: string, kind: 'func' | 'global'): number | undefined {
    const owners = [index, ...(this.#plan.libraries[index]?.needed ?? [])];
    return owners.find((one) => this.#exportOf(one, name, kind) !== undefined);
  }

  #address({ path, dylink }: Library, index: number, name: string): number {
    const own = this.#engine.variables.get(name);
    if (own !== undefined) return own;
    const owner = this.#ownerOf(index, name, 'global');
    if (owner !== undefined) return this.#addressOf(owner, name);
    if (dylink.weak.has(name)) return 0;
    throw missing(path, `variable ${name}`);
  }

  /** Exports of a library are offsets from its own base. */
  #addressOf(owner: number, name: string): number {
    const library = this.#libraries[owner] as Library;
    const global = (this.#exportOf(owner, name, 'global') ?? 0) - importedGlobals(library).length;
    const start = library.shape.globals[global]?.start;
    if (!start || start.global !== undefined)
      throw new LinkError(library.path, `exports ${name} at an unknown address`);
    return (this.#plan.libraries[owner]?.memoryBase ?? 0) + start.offset;
  }

  #slot({ path, dylink }: Library, index: number, name: string): number {
    const own = this.#engine.functions.get(engineName(name));
    if (own !== undefined) return this.#engineSlot(engineName(name), own);
    const owner = this.#ownerOf(index, name, 'func');
    if (owner !== undefined) return this.#librarySlot(owner, name);
    if (dylink.weak.has(name)) return 0;
    throw missing(path, `function ${name}`);
  }

  /** Reuses the engine's slot if there is one, because its code compares function addresses. */
  #engineSlot(name: string, index: number): number {
    const known =
      this.#engine.slots.get(index) ??
      this.#plan.added.find((one) => one.library === undefined && one.name === name)?.slot;
    if (known !== undefined) return known;
    this.#used.add(name);
    return this.#addSlot({ name }, this.#engine.arity(index));
  }

  #librarySlot(library: number, name: string): number {
    const index = this.#exportOf(library, name, 'func') ?? -1;
    const { shape } = this.#libraries[library] as Library;
    for (const { place, functions } of shape.elements) {
      const at = functions.indexOf(index);
      if (at >= 0) return (this.#plan.libraries[library]?.tableBase ?? 0) + place.offset + at;
    }
    const known = this.#plan.added.find((one) => one.library === library && one.name === name);
    return known?.slot ?? this.#addSlot({ library, name }, arityOf(shape, index));
  }

  #addSlot(owner: { library?: number; name: string }, arity: number): number {
    const slot = this.#plan.tableSlots++;
    this.#plan.added.push({ slot, ...owner });
    this.#arities[slot] = arity;
    return slot;
  }

  #addEntryPoints(library: Library, index: number): void {
    const names = library.shape.module.exports
      .filter(({ kind, name }) => kind === 'func' && ENTRY_POINT.test(name))
      .map(({ name }) => name);
    this.#plan.entryPoints[library.path] = Object.fromEntries(
      names.map((name) => [name, this.#librarySlot(index, name)]),
    );
  }
}

function missing(path: string, what: string): LinkError {
  return new LinkError(path, `needs the ${what}, which the engine does not provide`);
}
