/**
 * The interfaces of a Wasm cell: what the installer writes and the linker reads, and what a host function is.
 * Plain data, so that it crosses a process boundary as JSON.
 *
 * @module
 */

// --- what the installer writes for a binary ---------------------------------------------------------------

/** Everything a cell needs except the rewritten core modules, which are stored next to it as `<index>.wasm`. */
export interface Plan {
  version: 1;
  /** `component`: WASI 0.2 and the skill interface; `command`: a WASI preview1 module with `_start`. */
  format: 'component' | 'command';
  /** What a call runs: the skill's own function, `wasi:cli/run` (JSON on stdin and stdout), or `_start` (the same). */
  entry: 'execute' | 'run' | '_start';
  /** The export that contains it: `execute`, `wasi:cli/run@0.2.3`, `_start`. */
  entryExport: string;
  /** Only for `component`. */
  component?: Component;
  modules: ModuleFacts[];
  /** Interfaces (component) or `module.name` functions (command) that the binary imports, sorted. */
  imports: string[];
}

/** What was found in, or added to, one core module. */
export interface ModuleFacts {
  bytes: number;
  functions: number;
  /** Pages after clamping. */
  memories: { min: number; max: number }[];
  tables: { min: number; max: number }[];
  /**
   * Export name of the fuel counter that the rewriter added: a mutable i64 global, 0 until the host sets it.
   * A guest that runs out of fuel traps and leaves it negative; no other trap does. No name in the file equals it.
   */
  fuelExport: string;
  /**
   * The start function, if the module had one: the linker calls it right after `new Instance` and after setting fuel.
   * A start section would run before the host can set fuel, and hide why it trapped.
   */
  startExport?: string;
  /**
   * For a module that can grow a memory or table: a mutable i32 global, set to a number of GROWTH_OF after a failed growth.
   * If the guest ends after that, this is the reason.
   */
  growthExport?: string;
  /** For a module that shares a budget with others: a table with the functions of BUDGET_SLOTS. */
  budgetExport?: string;
  /** Names of its own memories, whether or not it exports them itself. */
  memoryExports?: string[];
  /** For a module that counts the pages of its memory itself, because the memory may be larger: a mutable i32 global. */
  pagesExport?: string;
  /** The whole mutable state of an instance, if the installer looked for it and could find all of it. */
  state?: ModuleState;
}

/**
 * Exports that the rewriter added for everything that an instance of the module can change: its own memory and its own
 * integer globals. Its tables never change, and no segment is dropped. Fuel is not included, because each call sets it.
 */
export interface ModuleState {
  memories: string[];
  globals: string[];
}

/**
 * Functions that the linker puts into the table `budgetExport`, each from i32 to i32: `may-…` gets the number of pages or
 * entries requested and returns it, or -1; `did-…` gets the result of the growth and returns it.
 */
export const BUDGET_SLOTS = [
  'may-grow-memory',
  'did-grow-memory',
  'may-grow-table',
  'did-grow-table',
] as const;

export const GROWTH_OF = { memory: 1, table: 2 } as const;

// --- a parsed component: definitions in order, each adds to an index space ----------------------

export interface Component {
  definitions: Definition[];
}

export type CoreSort = 'func' | 'table' | 'memory' | 'global' | 'type' | 'module' | 'instance';
export type Sort = 'func' | 'value' | 'type' | 'component' | 'instance' | { core: CoreSort };

export type Definition =
  /** `module` counts over the whole file, nested components included: the number of the .wasm file. */
  | { kind: 'core-module'; module: number }
  | { kind: 'core-instance'; expr: CoreInstanceExpr }
  /** Core types do not affect linking; they keep their place in the index space. */
  | { kind: 'core-type' }
  | { kind: 'component'; component: Component }
  | { kind: 'instance'; expr: InstanceExpr }
  | { kind: 'alias'; sort: Sort; target: AliasTarget }
  | { kind: 'type'; type: TypeDef }
  | { kind: 'canon'; canon: Canon }
  | { kind: 'import'; name: string; desc: ExternDesc }
  | { kind: 'export'; name: string; sort: Sort; index: number; desc?: ExternDesc };

export type CoreInstanceExpr =
  | { instantiate: number; args: { name: string; instance: number }[] }
  | { exports: { name: string; sort: CoreSort; index: number }[] };

export type InstanceExpr =
  | { instantiate: number; args: { name: string; sort: Sort; index: number }[] }
  | { exports: { name: string; sort: Sort; index: number }[] };

export type AliasTarget =
  | { export: { instance: number; name: string } }
  | { coreExport: { instance: number; name: string } }
  | { outer: { count: number; index: number } };

export type Canon =
  | { lift: { coreFunc: number; type: number; options: CanonOptions } }
  | { lower: { func: number; options: CanonOptions } }
  | { resourceNew: number }
  | { resourceDrop: number }
  | { resourceRep: number };

export interface CanonOptions {
  encoding: 'utf8' | 'utf16' | 'latin1+utf16';
  memory?: number;
  realloc?: number;
  postReturn?: number;
}

/** Value types: a primitive by name, or an index into the type space of the enclosing component. */
export type Primitive =
  | 'bool'
  | 's8'
  | 'u8'
  | 's16'
  | 'u16'
  | 's32'
  | 'u32'
  | 's64'
  | 'u64'
  | 'f32'
  | 'f64'
  | 'char'
  | 'string';
export type ValType = Primitive | { type: number };

export type TypeDef =
  | { kind: 'primitive'; primitive: Primitive }
  | { kind: 'record'; fields: { name: string; type: ValType }[] }
  | { kind: 'variant'; cases: { name: string; type?: ValType }[] }
  | { kind: 'list'; element: ValType }
  | { kind: 'tuple'; types: ValType[] }
  | { kind: 'flags'; names: string[] }
  | { kind: 'enum'; names: string[] }
  | { kind: 'option'; type: ValType }
  | { kind: 'result'; ok?: ValType; err?: ValType }
  | { kind: 'own'; resource: number }
  | { kind: 'borrow'; resource: number }
  | { kind: 'func'; params: { name: string; type: ValType }[]; result?: ValType }
  | { kind: 'instance'; declarations: Declaration[] }
  | { kind: 'component'; declarations: Declaration[] }
  | { kind: 'resource'; destructor?: number };

/** Declarations in an instance or component type; each type, alias and exported type adds to that type's own type space. */
export type Declaration =
  | { kind: 'type'; type: TypeDef }
  | { kind: 'core-type' }
  | { kind: 'alias'; sort: Sort; target: AliasTarget }
  | { kind: 'import'; name: string; desc: ExternDesc }
  | { kind: 'export'; name: string; desc: ExternDesc };

export type ExternDesc =
  | { kind: 'core-module'; type: number }
  | { kind: 'func'; type: number }
  | { kind: 'value'; type: ValType }
  | { kind: 'type'; bound: { eq: number } | 'sub-resource' }
  | { kind: 'instance'; type: number }
  | { kind: 'component'; type: number };

// --- the host's side --------------------------------------------------------------------------------------

/**
 * Values as host functions see them. Integers up to 32 bits and floats are numbers, 64-bit integers are BigInt,
 * char and string are strings, list<u8> is a Uint8Array copy and other lists are arrays, records are objects with
 * the WIT names as keys, tuples are arrays, flags are objects of booleans, enums are strings, options are
 * `undefined` or the value (`{ some: … }` for an option of an option), variants are `{ tag, val }`, results are
 * `{ ok }` or `{ err }`, own and borrow are the host's own resource objects.
 */
export type HostValue = unknown;

/** A function that a component imports. `suspends`: it may return a promise, and the guest is suspended until it settles. */
export interface HostFunction {
  suspends?: boolean;
  call: (...args: HostValue[]) => HostValue;
}

/** Interface (`wasi:io/streams`, without its version) → function name as in WIT (`[method]input-stream.read`) → function. */
export type HostInterfaces = Record<string, Record<string, HostFunction>>;

/** An object that the guest has a handle of. `drop` is called when its last owner drops it, and at the end of a call. */
export interface HostResource {
  drop?: () => void;
}

/** Thrown to end the guest immediately: WASI `exit`, a limit that was hit, or a violation of the ABI. */
export class GuestEnd extends Error {
  readonly kind: 'exit' | 'limit' | 'trap' | 'denied';
  readonly detail: string;

  constructor(kind: GuestEnd['kind'], detail: string) {
    super(detail);
    this.kind = kind;
    this.detail = detail;
  }
}
