/**
 * Wraps the core module that a compiler produced into a component of the world `skill`. The module exports `memory`,
 * `cabi_realloc` and `execute` with the canonical ABI, and imports only functions of the interfaces in `wit/`.
 *
 * @module
 */
import { list, name, section, signed, u32, type Bytes } from './binary.ts';
import { fixupModule, shimModule, TABLE } from './host-shim.ts';
import { coreSignature, DROP, type CoreSignature } from './wit/core-signature.ts';
import { instanceType } from './wit/instance-type.ts';
import { droppedResource, interfaceOf, isKnown, needsOf, type CoreImport, type Need } from './wit/needs.ts';

/** Version 13 of the component format, released with WASI 0.2. */
const PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
const STRING = 0x73;
const POST_RETURN = 'cabi_post_execute';

const SECTION = { coreModule: 1, coreInstance: 2, alias: 6, type: 7, canon: 8, import: 10, export: 11 };
const CORE_SORT = { func: 0x00, table: 0x01, memory: 0x02, instance: 0x12 };
const SORT = { func: 0x01, type: 0x03 };

/** Exports and imports of a core module. */
export interface CoreNames {
  exports: readonly string[];
  imports: readonly CoreImport[];
}

/** Returns the component, or a message that says what is wrong with the module. */
export function encodeComponent(core: Uint8Array, names: CoreNames): Uint8Array | string {
  const missing = ['memory', 'cabi_realloc', 'execute'].filter((key) => !names.exports.includes(key));
  if (missing.length > 0) return `it does not export ${missing.map((key) => `"${key}"`).join(', ')}`;
  const unknown = names.imports.find((item) => !isKnown(item));
  if (unknown)
    return `it imports "${unknown.name}" of "${unknown.module}", which is not part of the skill interface`;
  const hasPostReturn = names.exports.includes(POST_RETURN);
  return new Encoder(core, withoutRepeats(names.imports)).encode(hasPostReturn);
}

function withoutRepeats(imports: readonly CoreImport[]): CoreImport[] {
  return [...new Map(imports.map((item) => [`${item.module}#${item.name}`, item])).values()];
}

/** Writes sections in order of definition, and counts the entries of each index space. */
class Encoder {
  readonly #parts: Uint8Array[] = [Uint8Array.from(PREAMBLE)];
  readonly #core: Uint8Array;
  readonly #imports: readonly CoreImport[];
  readonly #signatures: readonly CoreSignature[];
  /** Ids of the imported interfaces; the position is the instance index. */
  readonly #instances: string[] = [];
  /** Types of imported interfaces that others use, such as `wasi:io/poll@0.2.0#pollable`. */
  readonly #shared = new Map<string, number>();
  readonly #count = { modules: 0, coreInstances: 0, coreFuncs: 0, funcs: 0, types: 0 };

  constructor(core: Uint8Array, imports: readonly CoreImport[]) {
    this.#core = core;
    this.#imports = imports;
    this.#signatures = imports.map(signatureOf);
  }

  encode(hasPostReturn: boolean): Uint8Array {
    for (const need of needsOf(this.#imports)) this.#importInterface(need);
    const shim = this.#imports.length > 0 ? this.#shims() : undefined;
    const main = this.#instantiate(this.#module(this.#core), shim?.byModule ?? {});
    this.#alias(main, 'memory', CORE_SORT.memory);
    const realloc = this.#aliasFunc(main, 'cabi_realloc');
    if (shim) this.#fillTable(shim.instance, realloc);
    const execute = this.#aliasFunc(main, 'execute');
    const post = hasPostReturn ? [0x05, ...u32(this.#aliasFunc(main, POST_RETURN))] : undefined;
    this.#liftAndExport(execute, [utf8, memory0, reallocBy(realloc), ...(post ? [post] : [])]);
    return Buffer.concat(this.#parts);
  }

  #importInterface(need: Need): void {
    const { id } = need.of;
    const type = this.#type(instanceType(need, (label, from) => this.#sharedType(label, from.id)));
    this.#write(section(SECTION.import, [[0x00, ...name(id), 0x05, ...u32(type)]]));
    const instance = this.#instances.push(id) - 1;
    for (const label of need.types) {
      this.#aliasExport(instance, label, SORT.type);
      this.#shared.set(`${id}#${label}`, this.#count.types++);
    }
  }

  #sharedType(label: string, id: string): number {
    const index = this.#shared.get(`${id}#${label}`);
    if (index === undefined) throw new Error(`"${label}" of "${id}" is used before it is imported`);
    return index;
  }

  /** Creates an instance of shim functions for each imported module. */
  #shims(): { instance: number; byModule: Record<string, number> } {
    const instance = this.#instantiate(this.#module(shimModule(this.#signatures)), {});
    const functions = this.#imports.map((item, at) => ({
      module: item.module,
      shim: exportOf(item.name, CORE_SORT.func, this.#aliasFunc(instance, String(at))),
    }));
    const byModule: Record<string, number> = {};
    for (const module of new Set(this.#imports.map((item) => item.module))) {
      const own = functions.filter((item) => item.module === module).map((item) => item.shim);
      byModule[module] = this.#coreInstance([0x01, ...list(own)]);
    }
    return { instance, byModule };
  }

  /** Puts the real functions, which use the memory of the module, behind the shims. */
  #fillTable(shim: number, realloc: number): void {
    const lowered = this.#imports.map((item, at) =>
      exportOf(String(at), CORE_SORT.func, this.#lower(item, realloc)),
    );
    this.#alias(shim, TABLE, CORE_SORT.table);
    const shimImports = this.#coreInstance([
      0x01,
      ...list([...lowered, exportOf(TABLE, CORE_SORT.table, 0)]),
    ]);
    this.#instantiate(this.#module(fixupModule(this.#signatures)), { '': shimImports });
  }

  #lower({ module, name: key }: CoreImport, realloc: number): number {
    const resource = droppedResource(key);
    if (resource !== undefined) {
      const type = this.#sharedType(resource, module);
      this.#write(section(SECTION.canon, [[0x03, ...u32(type)]]));
      return this.#count.coreFuncs++;
    }
    this.#aliasExport(this.#instances.indexOf(module), key, SORT.func);
    const options = list([utf8, memory0, reallocBy(realloc)]);
    this.#write(section(SECTION.canon, [[0x01, 0x00, ...u32(this.#count.funcs++), ...options]]));
    return this.#count.coreFuncs++;
  }

  #liftAndExport(execute: number, options: readonly Bytes[]): void {
    const result = this.#type([0x6a, 0x01, STRING, 0x01, STRING]);
    const type = this.#type([0x40, ...list([[...name('params'), STRING]]), 0x00, ...signed(result)]);
    this.#write(section(SECTION.canon, [[0x00, 0x00, ...u32(execute), ...list(options), ...u32(type)]]));
    const func = this.#count.funcs++;
    this.#write(section(SECTION.export, [[0x00, ...name('execute'), 0x01, ...u32(func), 0x00]]));
  }

  #module(bytes: Uint8Array): number {
    this.#write([SECTION.coreModule, ...u32(bytes.length)]);
    this.#parts.push(bytes);
    return this.#count.modules++;
  }

  #instantiate(module: number, args: Record<string, number>): number {
    const instances = Object.entries(args).map(([key, at]) => exportOf(key, CORE_SORT.instance, at));
    return this.#coreInstance([0x00, ...u32(module), ...list(instances)]);
  }

  #coreInstance(expression: Bytes): number {
    this.#write(section(SECTION.coreInstance, [expression]));
    return this.#count.coreInstances++;
  }

  #aliasFunc(instance: number, key: string): number {
    this.#alias(instance, key, CORE_SORT.func);
    return this.#count.coreFuncs++;
  }

  #alias(instance: number, key: string, sort: number): void {
    this.#write(section(SECTION.alias, [[0x00, sort, 0x01, ...u32(instance), ...name(key)]]));
  }

  #aliasExport(instance: number, key: string, sort: number): void {
    this.#write(section(SECTION.alias, [[sort, 0x00, ...u32(instance), ...name(key)]]));
  }

  #type(definition: Bytes): number {
    this.#write(section(SECTION.type, [definition]));
    return this.#count.types++;
  }

  #write(bytes: Bytes): void {
    this.#parts.push(Uint8Array.from(bytes));
  }
}

function signatureOf({ module, name: key }: CoreImport): CoreSignature {
  const of = interfaceOf(module);
  const func = of?.functions[key];
  return of && func ? coreSignature(func, of) : DROP;
}

function exportOf(key: string, sort: number, index: number): Bytes {
  return [...name(key), sort, ...u32(index)];
}

const utf8: Bytes = [0x00];
/** The module has one memory, which is the first in the index space. */
const memory0: Bytes = [0x03, 0x00];

function reallocBy(coreFunc: number): Bytes {
  return [0x04, ...u32(coreFunc)];
}
