/**
 * Shared parts of WASI preview1 commands of the corpus: imports, functions for answering, and memory addresses.
 *
 * @module
 */

const CALLS: Record<string, string> = {
  fd_write: 'i32 i32 i32 i32',
  fd_read: 'i32 i32 i32 i32',
  fd_close: 'i32',
  fd_filestat_set_size: 'i32 i64',
  fd_pwrite: 'i32 i32 i32 i64 i32',
  path_open: 'i32 i32 i32 i32 i32 i64 i64 i32 i32',
  path_filestat_get: 'i32 i32 i32 i32 i32',
  path_symlink: 'i32 i32 i32 i32 i32',
  path_link: 'i32 i32 i32 i32 i32 i32 i32',
  path_rename: 'i32 i32 i32 i32 i32 i32',
  path_create_directory: 'i32 i32 i32',
  path_unlink_file: 'i32 i32 i32',
  path_remove_directory: 'i32 i32 i32',
  path_readlink: 'i32 i32 i32 i32 i32 i32',
  environ_sizes_get: 'i32 i32',
  environ_get: 'i32 i32',
  clock_time_get: 'i32 i64 i32',
  random_get: 'i32 i32',
  poll_oneoff: 'i32 i32 i32 i32',
};

const IMPORTS = Object.entries(CALLS).map(
  ([call, params]) =>
    `(import "wasi_snapshot_preview1" "${call}" (func $${call} (param ${params}) (result i32)))`,
);

/** Addresses of the two paths of an attack. */
export const PATH = 1024;
export const SECOND_PATH = 2048;
/** Free memory for input and output. */
export const BUFFER = 65_536;

/** The preopened directory of a command: 3 is the bundle, 4 the first granted path. */
export const BUNDLE_DIR = 3;
export const WORKSPACE_DIR = 4;

export const RIGHT_READ = 2;
export const RIGHT_WRITE = 64;
export const RIGHT_SET_SIZE = 4_194_304;
export const CREATE = 1;
export const DIRECTORY = 2;
export const TRUNCATE = 8;

/** `$must` ends the program with an errno, `$succeed` reports that the attack worked, `$report` what it found. */
const HELPERS = `
  (data (i32.const 256) "{\\"succeeded\\":true,\\"evidence\\":\\"")
  (data (i32.const 320) "\\"}") (data (i32.const 324) "{\\"succeeded\\":true}") (data (i32.const 344) "{\\"succeeded\\":false}")
  (func $print (param $fd i32) (param $ptr i32) (param $len i32) (result i32)
    (i32.store (i32.const 0) (local.get $ptr)) (i32.store (i32.const 4) (local.get $len))
    (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8)))
  (func $say (param $ptr i32) (param $len i32) (call $must (call $print (i32.const 1) (local.get $ptr) (local.get $len))))
  (func $must (param $errno i32) (if (local.get $errno) (then (call $proc_exit (local.get $errno)) (unreachable))))
  (func $succeed (call $say (i32.const 324) (i32.const 18)))
  (func $fail (call $say (i32.const 344) (i32.const 19)))
  (func $report (param $ptr i32) (param $max i32) (local $n i32)
    (block $end (loop $more (br_if $end (i32.ge_u (local.get $n) (local.get $max)))
      (br_if $end (i32.lt_u (i32.load8_u (i32.add (local.get $ptr) (local.get $n))) (i32.const 32)))
      (local.set $n (i32.add (local.get $n) (i32.const 1))) (br $more)))
    (call $say (i32.const 256) (i32.const 31)) (call $say (local.get $ptr) (local.get $n)) (call $say (i32.const 320) (i32.const 2)))
  (func $open (param $dir i32) (param $ptr i32) (param $len i32) (param $oflags i32) (param $rights i64) (result i32)
    (call $must (call $path_open (local.get $dir) (i32.const 1) (local.get $ptr) (local.get $len) (local.get $oflags)
      (local.get $rights) (local.get $rights) (i32.const 0) (i32.const 12)))
    (i32.load (i32.const 12)))
  (func $read (param $fd i32) (result i32)
    (i32.store (i32.const 0) (i32.const ${BUFFER})) (i32.store (i32.const 4) (i32.const 100))
    (call $fd_read (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8)))
  (func $read_and_report (param $fd i32) (call $must (call $read (local.get $fd))) (call $report (i32.const ${BUFFER}) (i32.load (i32.const 8))))
  (func $sleep (param $nanoseconds i64)
    (memory.fill (i32.const 4096) (i32.const 0) (i32.const 128)) (i32.store (i32.const 4112) (i32.const 1))
    (i64.store (i32.const 4120) (local.get $nanoseconds))
    (call $must (call $poll_oneoff (i32.const 4096) (i32.const 4160) (i32.const 1) (i32.const 8))))`;

export interface CommandOptions {
  /** Text at PATH and at SECOND_PATH. */
  path?: string;
  secondPath?: string;
  /** Fields of the module in addition to `_start`. */
  extra?: string;
  memory?: string;
}

/** A command whose `_start` has the locals $i, $n and $fd. */
export function command(body: string, options: CommandOptions = {}): string {
  const { path = '', secondPath = '', extra = '', memory = '4' } = options;
  return `(module ${IMPORTS.join('\n')}
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") ${memory}) ${data(PATH, path)} ${data(SECOND_PATH, secondPath)} ${HELPERS} ${extra}
  (func (export "_start") (local $i i32) (local $n i32) (local $fd i32) (local $t i64) ${body}))`;
}

export function data(at: number, text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`);
  return bytes.length === 0 ? '' : `(data (i32.const ${at}) "${bytes.join('')}")`;
}

export const constants = (...values: number[]): string =>
  values.map((value) => `(i32.const ${value})`).join(' ');

/** The arguments of a path at PATH or SECOND_PATH. */
export const at = (place: number, text: string): string => constants(place, Buffer.byteLength(text));

/** A body that repeats forever. */
export const forever = (body: string): string => `(loop $again ${body} (br $again))`;
