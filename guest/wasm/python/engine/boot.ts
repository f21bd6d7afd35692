/**
 * Starts CPython for the first time: constructors, built-in modules, configuration, initialisation. This happens once,
 * when the engine is installed; every later process starts from the image.
 *
 * @module
 */
/* oxlint-disable no-underscore-dangle -- names of the C library */
import type { DataSegment } from './rewrite.ts';
import type { Interpreter, Layout } from './interpreter.ts';

/** Small enough that Python's own check triggers before the JavaScript stack, which grows alongside, overflows. */
const STACK_BYTES = 256 * 1024;
const STACK_ALIGNMENT = 16;
const INITTAB_ENTRY_BYTES = 8;

/** Built-in modules that would only help to corrupt memory, or that depend on things that do not exist here. */
const DENIED_MODULES: ReadonlySet<string> = new Set([
  '_ctypes',
  '_posixsubprocess',
  '_pyodide_core',
  '_remote_debugging',
  '_testbuffer',
  '_testcapi',
  '_testclinic',
  '_testclinic_limited',
  '_testimportmultiple',
  '_testinternalcapi',
  '_testlimitedcapi',
  '_testmultiphase',
  '_testsinglephase',
  '_xxtestfuzz',
  'faulthandler',
  'fcntl',
  'mmap',
  'termios',
  'xxsubtype',
]);

const NUMBERS: Readonly<Record<string, number>> = {
  isolated: 1,
  use_environment: 0,
  site_import: 0,
  write_bytecode: 0,
  install_signal_handlers: 0,
  user_site_directory: 0,
  parse_argv: 0,
  utf8_mode: 1,
  pathconfig_warnings: 0,
  buffered_stdio: 1,
  use_hash_seed: 1,
};

const TEXTS: Readonly<Record<string, string>> = {
  home: '/lib',
  executable: '/usr/bin/python3',
  program_name: 'python3',
  prefix: '/lib',
  exec_prefix: '/lib',
  base_prefix: '/lib',
  base_exec_prefix: '/lib',
  stdlib_dir: '/lib',
  platlibdir: 'lib',
};

export interface BootOptions {
  data: DataSegment[];
  /** Path of the standard library. */
  library: string;
  /** An unpredictable number: it determines the order of sets, and protects dictionaries against crafted keys. */
  hashSeed: number;
  /** Start of the heap, if not right after the stack. */
  heapStart?: number | undefined;
}

/** Boots; every later image has the same layout. */
export function boot(interpreter: Interpreter, options: BootOptions): Layout {
  const { exports, memory } = interpreter;
  for (const { address, bytes } of options.data) memory.slice(address, bytes.length).set(bytes);
  const layout = placeStack(interpreter, options.heapStart);
  exports.__wasm_call_ctors();
  // Again, because the constructors set the compiled-in bounds.
  setStack(interpreter, layout);
  const offset = memory.view.getInt32(Number(exports._PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET.value), true);
  memory.setU32(Number(exports._PyRuntime.value) + offset, layout.trampolineSlot);
  removeModules(interpreter);
  initialise(interpreter, options);
  return layout;
}

/** Runs Python source in `__main__`. */
export function runSource(interpreter: Interpreter, source: string): void {
  const failed = interpreter.exports.PyRun_SimpleStringFlags(allocateText(interpreter, source), 0);
  if (failed !== 0) throw new Error('The boot script failed');
}

/** A function of `__main__`, to be called from the host. */
export function findFunction(interpreter: Interpreter, name: string): number {
  const { exports } = interpreter;
  const main = exports.PyImport_AddModule(allocateText(interpreter, '__main__'));
  const found = exports.PyObject_GetAttrString(main, allocateText(interpreter, name));
  if (found === 0) throw new Error(`The boot script does not define ${name}`);
  return found;
}

/** A smaller stack with the heap right after it: the compiled-in ten megabytes would be in every image. */
function placeStack(interpreter: Interpreter, heapStart: number | undefined): Layout {
  const { exports, memory, trampolineSlot } = interpreter;
  const stackLow = Number(exports.__stack_low.value);
  const stackHigh = stackEnd(stackLow);
  const breakCell = exports.emscripten_get_sbrk_ptr();
  memory.setU32(breakCell, heapStart ?? stackHigh);
  const layout = { stackLow, stackHigh, breakCell, trampolineSlot };
  setStack(interpreter, layout);
  return layout;
}

/** The first address after the stack. */
export function stackEnd(stackLow: number): number {
  return (stackLow + STACK_BYTES) & -STACK_ALIGNMENT;
}

function setStack({ exports }: Interpreter, { stackHigh, stackLow }: Layout): void {
  exports.__stack_pointer.value = stackHigh;
  exports.emscripten_stack_set_limits(stackHigh, stackLow);
}

function removeModules({ exports, memory }: Interpreter): void {
  let from = memory.u32(Number(exports.PyImport_Inittab.value));
  let to = from;
  for (; memory.u32(from) !== 0; from += INITTAB_ENTRY_BYTES) {
    if (DENIED_MODULES.has(memory.text(memory.u32(from)))) continue;
    memory.setU32(to, memory.u32(from));
    memory.setU32(to + 4, memory.u32(from + 4));
    to += INITTAB_ENTRY_BYTES;
  }
  memory.slice(to, from - to).fill(0);
}

function initialise(interpreter: Interpreter, { library, hashSeed }: BootOptions): void {
  const { exports, memory } = interpreter;
  const config = exports.PyInitConfig_Create();
  const text = (value: string): number => allocateText(interpreter, value);
  const check = (status: number, what: string): void => {
    if (status >= 0) return;
    const result = exports.malloc(4);
    exports.PyInitConfig_GetError(config, result);
    throw new Error(`CPython refused ${what}: ${memory.text(memory.u32(result))}`);
  };
  for (const [name, value] of Object.entries({ ...NUMBERS, hash_seed: hashSeed }))
    check(exports.PyInitConfig_SetInt(config, text(name), BigInt(value)), name);
  for (const [name, value] of Object.entries(TEXTS))
    check(exports.PyInitConfig_SetStr(config, text(name), text(value)), name);
  const paths = exports.malloc(4);
  memory.setU32(paths, text(library));
  check(exports.PyInitConfig_SetStrList(config, text('module_search_paths'), 1, paths), 'the search path');
  check(exports.Py_InitializeFromInitConfig(config), 'to start');
  exports.PyInitConfig_Free(config);
}

function allocateText({ exports, memory }: Interpreter, text: string): number {
  const address = exports.malloc(new TextEncoder().encode(text).length + 1);
  if (address === 0) throw new Error('Out of memory while starting');
  memory.setText(address, text);
  return address;
}
