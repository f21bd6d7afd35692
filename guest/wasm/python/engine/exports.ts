/**
 * The C functions and variables of the engine that we use, by name. All others are removed from the module.
 *
 * @module
 */
import { HASH_TABLE, HASH_TABLE_INDEX } from './hash-table.ts';

/* oxlint-disable max-params -- the C library decides how many there are */
type Pointer = number;

export interface EngineExports {
  __indirect_function_table: WebAssembly.Table;
  references_1: WebAssembly.Table;
  references_2: WebAssembly.Table;
  host_hash: WebAssembly.Table;
  __stack_pointer: WebAssembly.Global;
  __stack_low: WebAssembly.Global;
  _PyRuntime: WebAssembly.Global;
  _PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET: WebAssembly.Global;
  PyImport_Inittab: WebAssembly.Global;
  __wasm_call_ctors: () => void;
  emscripten_get_sbrk_ptr: () => Pointer;
  emscripten_stack_set_limits: (high: Pointer, low: Pointer) => void;
  malloc: (bytes: number) => Pointer;
  PyInitConfig_Create: () => Pointer;
  PyInitConfig_Free: (config: Pointer) => void;
  PyInitConfig_GetError: (config: Pointer, result: Pointer) => number;
  PyInitConfig_SetInt: (config: Pointer, name: Pointer, value: bigint) => number;
  PyInitConfig_SetStr: (config: Pointer, name: Pointer, value: Pointer) => number;
  PyInitConfig_SetStrList: (config: Pointer, name: Pointer, count: number, list: Pointer) => number;
  Py_InitializeFromInitConfig: (config: Pointer) => number;
  PyRun_SimpleStringFlags: (source: Pointer, flags: Pointer) => number;
  PyImport_AddModule: (name: Pointer) => Pointer;
  PyObject_GetAttrString: (object: Pointer, name: Pointer) => Pointer;
  PyObject_CallOneArg: (callable: Pointer, argument: Pointer) => Pointer;
  PyBytes_FromStringAndSize: (from: Pointer, bytes: number) => Pointer;
  PyBytes_AsString: (bytes: Pointer) => Pointer;
  PyErr_Print: () => void;
}

/**
 * Tables of references to JavaScript, by index. An image does not contain them, and nothing uses them; but code that
 * corrupts the memory could grow them, so their size is checked.
 */
export const REFERENCE_TABLES = { references_1: 1, references_2: 2 } as const;

/** All tables that only the host uses by name. */
export const OWN_TABLES: Readonly<Record<OwnTable, number>> = {
  ...REFERENCE_TABLES,
  [HASH_TABLE]: HASH_TABLE_INDEX,
};
type OwnTable = keyof typeof REFERENCE_TABLES | typeof HASH_TABLE;

export const KEPT_EXPORTS: readonly Exclude<keyof EngineExports, OwnTable>[] = [
  '__indirect_function_table',
  '__stack_pointer',
  '__stack_low',
  '_PyRuntime',
  '_PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET',
  'PyImport_Inittab',
  '__wasm_call_ctors',
  'emscripten_get_sbrk_ptr',
  'emscripten_stack_set_limits',
  'malloc',
  'PyInitConfig_Create',
  'PyInitConfig_Free',
  'PyInitConfig_GetError',
  'PyInitConfig_SetInt',
  'PyInitConfig_SetStr',
  'PyInitConfig_SetStrList',
  'Py_InitializeFromInitConfig',
  'PyRun_SimpleStringFlags',
  'PyImport_AddModule',
  'PyObject_GetAttrString',
  'PyObject_CallOneArg',
  'PyBytes_FromStringAndSize',
  'PyBytes_AsString',
  'PyErr_Print',
];
