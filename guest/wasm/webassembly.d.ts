/**
 * The part of the WebAssembly JavaScript API that we use. TypeScript declares it only as part of the browser's types,
 * and without JSPI.
 */
declare namespace WebAssembly {
  type ImportExportKind = 'function' | 'global' | 'memory' | 'table' | 'tag';
  type ExportValue = CallableFunction | Global | Memory | Table;
  type Exports = Record<string, ExportValue>;
  type Imports = Record<string, Record<string, unknown>>;

  class Module {
    constructor(bytes: ArrayBufferView | ArrayBuffer);
    static exports(module: Module): { name: string; kind: ImportExportKind }[];
    static imports(module: Module): { module: string; name: string; kind: ImportExportKind }[];
  }
  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Exports;
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Table {
    constructor(descriptor: { element: 'anyfunc' | 'externref'; initial: number; maximum?: number });
    readonly length: number;
    /** Returns the previous length. */
    grow(by: number): number;
    set(index: number, value: CallableFunction): void;
  }
  class Global {
    constructor(
      descriptor: { value: 'i32' | 'i64' | 'f32' | 'f64'; mutable?: boolean },
      value?: number | bigint,
    );
    value: number | bigint;
  }
  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
  class SuspendError extends Error {}

  /** An import that may return a promise; the guest is suspended until it settles. */
  class Suspending {
    constructor(call: (...args: never[]) => unknown);
  }
  /** Wraps an export so that it may be suspended. */
  function promising(call: CallableFunction): (...args: (number | bigint)[]) => Promise<unknown>;

  function validate(bytes: ArrayBufferView | ArrayBuffer): boolean;
  function compile(bytes: ArrayBufferView | ArrayBuffer): Promise<Module>;
}
