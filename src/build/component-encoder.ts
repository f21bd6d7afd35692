/**
 * Wraps a core module as compilers make it into a component of the world `skill`. The module exports `memory`,
 * `cabi_realloc` and `execute` with the canonical ABI, and imports nothing but functions of `skillcell:skill/host`.
 *
 * @module
 */
import { list, name, section, u32, type Bytes } from './binary.ts';
import { HOST_FUNCTIONS, HOST_INTERFACE, hostInstanceType } from './host-interface.ts';
import { fixupModule, shimModule, TABLE } from './host-shim.ts';

/** Version 13 of the component format: the one that was released with WASI 0.2. */
const PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
const STRING = 0x73;
const POST_RETURN = 'cabi_post_execute';

const SECTION = { coreModule: 1, coreInstance: 2, alias: 6, type: 7, canon: 8, import: 10, export: 11 };
const CORE_SORT = { func: 0x00, table: 0x01, memory: 0x02, instance: 0x12 };

/** What a core module has to say about itself. */
export interface CoreNames {
  exports: readonly string[];
  imports: readonly { module: string; name: string }[];
}

/** The component, or a message that says what the module lacks. */
export function encodeComponent(core: Uint8Array, names: CoreNames): Uint8Array | string {
  const missing = ['memory', 'cabi_realloc', 'execute'].filter((key) => !names.exports.includes(key));
  if (missing.length > 0) return `it does not export ${missing.map((key) => `"${key}"`).join(', ')}`;
  const unknown = names.imports.find((item) => !isHostFunction(item));
  if (unknown)
    return `it imports "${unknown.name}" of "${unknown.module}", which is not of the skill interface`;
  const functions = [...new Set(names.imports.map((item) => item.name))];
  const hasPostReturn = names.exports.includes(POST_RETURN);
  return new Encoder(core, functions).encode(hasPostReturn);
}

function isHostFunction(item: { module: string; name: string }): boolean {
  return item.module === HOST_INTERFACE && Object.hasOwn(HOST_FUNCTIONS, item.name);
}

/** Writes sections in the order of definition and counts the index spaces that grow with them. */
class Encoder {
  readonly #parts: Uint8Array[] = [Uint8Array.from(PREAMBLE)];
  readonly #core: Uint8Array;
  readonly #functions: readonly string[];
  readonly #count = { modules: 0, coreInstances: 0, coreFuncs: 0, funcs: 0, types: 0 };

  constructor(core: Uint8Array, functions: readonly string[]) {
    this.#core = core;
    this.#functions = functions;
  }

  encode(hasPostReturn: boolean): Uint8Array {
    const shim = this.#functions.length > 0 ? this.#importHost() : undefined;
    const main = this.#instantiate(
      this.#module(this.#core),
      shim ? { [HOST_INTERFACE]: shim.functions } : {},
    );
    this.#alias(main, 'memory', CORE_SORT.memory);
    const realloc = this.#aliasFunc(main, 'cabi_realloc');
    if (shim) this.#tie(shim.instance, realloc);
    const execute = this.#aliasFunc(main, 'execute');
    const post = hasPostReturn ? [0x05, ...u32(this.#aliasFunc(main, POST_RETURN))] : undefined;
    this.#liftAndExport(execute, [utf8, memory0, reallocBy(realloc), ...(post ? [post] : [])]);
    return Buffer.concat(this.#parts);
  }

  /** The interface, and an instance of stand-ins for its functions. */
  #importHost(): { instance: number; functions: number } {
    const type = this.#type(hostInstanceType(this.#functions));
    this.#write(section(SECTION.import, [[0x00, ...name(HOST_INTERFACE), 0x05, ...u32(type)]]));
    const instance = this.#instantiate(this.#module(shimModule(this.#paramCounts())), {});
    const standIns = this.#functions.map((key, at) =>
      named(key, CORE_SORT.func, this.#aliasFunc(instance, String(at))),
    );
    return { instance, functions: this.#coreInstance([0x01, ...list(standIns)]) };
  }

  /** Puts the real functions, which use the memory of the module, behind the stand-ins. */
  #tie(shim: number, realloc: number): void {
    const lowered = this.#functions.map((key, at) =>
      named(String(at), CORE_SORT.func, this.#lower(key, realloc)),
    );
    this.#alias(shim, TABLE, CORE_SORT.table);
    const filled = this.#coreInstance([0x01, ...list([...lowered, named(TABLE, CORE_SORT.table, 0)])]);
    this.#instantiate(this.#module(fixupModule(this.#paramCounts())), { '': filled });
  }

  #paramCounts(): number[] {
    return this.#functions.map((key) => HOST_FUNCTIONS[key]?.coreParams ?? 0);
  }

  #lower(key: string, realloc: number): number {
    // Function `key` of the only component instance there is, the imported one.
    this.#write(section(SECTION.alias, [[0x01, 0x00, 0x00, ...name(key)]]));
    const options = list([utf8, memory0, reallocBy(realloc)]);
    this.#write(section(SECTION.canon, [[0x01, 0x00, ...u32(this.#count.funcs++), ...options]]));
    return this.#count.coreFuncs++;
  }

  #liftAndExport(execute: number, options: readonly Bytes[]): void {
    const result = this.#type([0x6a, 0x01, STRING, 0x01, STRING]);
    const type = this.#type([0x40, ...list([[...name('params'), STRING]]), 0x00, ...u32(result)]);
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
    const given = Object.entries(args).map(([key, at]) => named(key, CORE_SORT.instance, at));
    return this.#coreInstance([0x00, ...u32(module), ...list(given)]);
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

  #type(definition: Bytes): number {
    this.#write(section(SECTION.type, [definition]));
    return this.#count.types++;
  }

  #write(bytes: Bytes): void {
    this.#parts.push(Uint8Array.from(bytes));
  }
}

function named(key: string, sort: number, index: number): Bytes {
  return [...name(key), sort, ...u32(index)];
}

const utf8: Bytes = [0x00];
/** The module has one memory, and it is the first that is named here. */
const memory0: Bytes = [0x03, 0x00];

function reallocBy(coreFunc: number): Bytes {
  return [0x04, ...u32(coreFunc)];
}
