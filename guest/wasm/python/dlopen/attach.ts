/**
 * Attaches libraries to an instance of the engine, following the plan. Their memory comes from the image or, if there is
 * none yet, from `initialise`.
 *
 * @module
 */
/* oxlint-disable no-underscore-dangle -- names of the C library */
import { BASES } from './library.ts';
import type { LibraryPlan, LinkPlan } from './plan.ts';
import { engineName } from './symbols.ts';
import { thunkModule } from './thunks.ts';

/** Compiled once per process. */
export interface LibraryCode {
  plan: LinkPlan;
  modules: WebAssembly.Module[];
  /** Stand-ins for the functions that each imports from itself. */
  thunks: (WebAssembly.Module | undefined)[];
}

export function libraryCode(plan: LinkPlan, modules: WebAssembly.Module[]): LibraryCode {
  const thunks = plan.libraries.map(({ own }) =>
    own.length === 0 ? undefined : new WebAssembly.Module(thunkModule(own)),
  );
  return { plan, modules, thunks };
}

export interface AttachOptions extends LibraryCode {
  memory: WebAssembly.Memory;
  engine: WebAssembly.Exports;
}

interface ImportSources extends AttachOptions {
  library: LibraryPlan;
  /** Functions that it imports from itself. */
  own: WebAssembly.Exports;
}

export class Libraries {
  readonly #instances: WebAssembly.Exports[] = [];

  constructor(options: AttachOptions) {
    const { plan, modules, thunks, engine } = options;
    const table = engine['__indirect_function_table'] as WebAssembly.Table;
    table.grow(plan.tableSlots - table.length);
    for (const [index, library] of plan.libraries.entries()) {
      const module = modules[index] as WebAssembly.Module;
      const stand = thunks[index] && new WebAssembly.Instance(thunks[index], { env: { table } }).exports;
      const imports = this.#imports(module, { ...options, library, own: stand ?? {} });
      this.#instances.push(new WebAssembly.Instance(module, imports).exports);
    }
    for (const { slot, library, name } of plan.added) {
      const owner = library === undefined ? engine : this.#instances[library];
      table.set(slot, owner?.[name] as CallableFunction);
    }
  }

  /** Runs once, on memory without an image: relocates addresses in the data, then runs constructors. */
  initialise(): void {
    for (const step of ['__wasm_apply_data_relocs', '__wasm_call_ctors'])
      for (const exports of this.#instances) (exports[step] as (() => void) | undefined)?.();
  }

  #imports(module: WebAssembly.Module, sources: ImportSources): WebAssembly.Imports {
    const imports: WebAssembly.Imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      const group = (imports[from] ??= {});
      group[name] = this.#importOf(from, name, sources);
    }
    return imports;
  }

  #importOf(from: string, name: string, { engine, library, memory, own }: ImportSources): unknown {
    // They never change; they are mutable because the import's type requires it.
    if (from === 'GOT.mem') return i32(library.addresses[name], true);
    if (from === 'GOT.func') return i32(library.slots[name], true);
    if (name === BASES.memory) return i32(library.memoryBase, false);
    if (name === BASES.table) return i32(library.tableBase, false);
    if (name === 'memory') return memory;
    if (Object.hasOwn(own, name)) return own[name];
    const giver = Object.hasOwn(library.given, name) ? library.given[name] : undefined;
    return giver === undefined ? engine[engineName(name)] : this.#instances[giver]?.[name];
  }
}

function i32(value: number | undefined, mutable: boolean): WebAssembly.Global {
  if (value === undefined) throw new Error('The plan of the libraries is incomplete');
  return new WebAssembly.Global({ value: 'i32', mutable }, value);
}
