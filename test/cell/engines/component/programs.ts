/**
 * Small commands in WebAssembly text, each built around `_start`: parameters on stdin, the result on stdout.
 *
 * @module
 */
import { component, EXECUTE_TYPES, list, section, str, wat } from '../../../wasm/binary/support.ts';

export interface ProgramParts {
  /** Runs when the parameters are not `{}`. */
  body: string;
  /** More of the module: globals, data, functions. */
  more?: string;
  /** Initial memory pages, optionally with a maximum. */
  pages?: number | string;
}

/** Address of the parameters. */
export const INPUT = 1024;
const INPUT_LENGTH = 16;

const SIGNATURES = {
  fd_read: 'i32 i32 i32 i32',
  fd_write: 'i32 i32 i32 i32',
  fd_prestat_get: 'i32 i32',
  environ_sizes_get: 'i32 i32',
  path_open: 'i32 i32 i32 i32 i32 i64 i64 i32 i32',
  poll_oneoff: 'i32 i32 i32 i32',
};
const IMPORTS = Object.entries(SIGNATURES)
  .map(
    ([name, params]) =>
      `(import "wasi_snapshot_preview1" "${name}" (func $${name} (param ${params}) (result i32)))`,
  )
  .join('\n');

/** A command that answers `"fine"` to `{}`, as the contract requires, and otherwise runs the body. */
export function command({ body, more = '', pages = 2 }: ProgramParts): Uint8Array {
  return wat(`(module
    ${IMPORTS}
    (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (memory (export "memory") ${pages})
    (data (i32.const 512) "\\"fine\\"")
    ${more}
    (func $print (param $at i32) (param $length i32)
      (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $length))
      (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
    (func $log (param $at i32) (param $length i32)
      (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $length))
      (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8))))
    (func $read (result i32)
      (i32.store (i32.const 0) (i32.const ${INPUT})) (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const ${INPUT_LENGTH})))
      (i32.load (i32.const ${INPUT_LENGTH})))
    ;; Prints a number of up to five digits as JSON.
    (func $number (param $value i32) (local $at i32)
      (local.set $at (i32.const 40))
      (loop $digit
        (local.set $at (i32.sub (local.get $at) (i32.const 1)))
        (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $value) (i32.const 10))))
        (br_if $digit (local.tee $value (i32.div_u (local.get $value) (i32.const 10)))))
      (call $print (local.get $at) (i32.sub (i32.const 40) (local.get $at))))
    (func (export "_start") (local $length i32)
      (local.set $length (call $read))
      (if (i32.eq (local.get $length) (i32.const 2))
        (then (call $print (i32.const 512) (i32.const 6)) (return)))
      ${body}))`);
}

export const ECHO: Uint8Array = command({ body: `(call $print (i32.const ${INPUT}) (local.get $length))` });

/** Counts its calls in a global, in memory and in a table, and prints the count. */
export const COUNTER: Uint8Array = command({
  more: '(global $calls (mut i32) (i32.const 0))',
  body: `
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store (i32.const 600) (i32.add (i32.load (i32.const 600)) (i32.const 1)))
    (drop (memory.grow (i32.const 1)))
    (call $number (i32.add (i32.mul (i32.const 1000) (memory.size))
      (i32.add (i32.mul (i32.const 10) (global.get $calls)) (i32.load (i32.const 600)))))`,
});

export const SPIN: Uint8Array = command({ body: '(loop $for_ever (br $for_ever))' });

/** Engines may forget to check for interrupts in bulk operations and tail calls. */
export const FILL: Uint8Array = command({
  pages: 512,
  body: '(loop $for_ever (memory.fill (i32.const 65536) (i32.const 1) (i32.const 33000000)) (br $for_ever))',
});

export const TAIL_CALLS: Uint8Array = command({
  more: '(func $again (return_call $again))',
  body: '(call $again)',
});

/** Waits on the clock for a day. */
export const SLEEP: Uint8Array = command({
  body: `
    (i32.store (i32.const 816) (i32.const 1))
    (i64.store (i32.const 824) (i64.const 86400000000000))
    (drop (call $poll_oneoff (i32.const 800) (i32.const 900) (i32.const 1) (i32.const 960)))`,
});

export const GROW: Uint8Array = command({
  body: `
    (loop $more
      (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (unreachable)`,
});

/** Grows by 64 MiB at once, and ends as given when that fails. */
export const growAtOnce = (
  then: string,
  pages: number | string = 2,
  growth = '(memory.grow (i32.const 1024))',
): Uint8Array =>
  command({
    more: '(table $table 1 funcref)',
    pages,
    body: `(if (i32.eq ${growth} (i32.const -1)) (then ${then}))
      (call $print (i32.const 512) (i32.const 6))`,
  });

export const RECURSE: Uint8Array = command({
  more: '(func $deeper (param i32) (result i32) (i32.add (i32.const 1) (call $deeper (local.get 0))))',
  body: '(drop (call $deeper (i32.const 1)))',
});

export const TRAP: Uint8Array = command({ body: '(unreachable)' });

export const exit = (code: number): Uint8Array => command({ body: `(call $exit (i32.const ${code}))` });

/** Prints the input and then long text forever, to stdout or stderr. */
export const flood = (where: '$print' | '$log'): Uint8Array =>
  command({ body: `(loop $more (call ${where} (i32.const ${INPUT}) (i32.const 60000)) (br $more))` });

export const LOGS: Uint8Array = command({
  body: '(call $log (i32.const 512) (i32.const 6)) (call $print (i32.const 512) (i32.const 6))',
});

export const GARBAGE: Uint8Array = command({
  more: '(data (i32.const 560) "{\\"a\\":1,\\"a\\":2}")',
  body: '(call $print (i32.const 560) (i32.const 13))',
});

/** Prints the number of preopened directories times a hundred, plus the number of variables. */
export const GIVEN: Uint8Array = command({
  more: '(global $count (mut i32) (i32.const 0))',
  body: `
    (block $end (loop $next
      (br_if $end (call $fd_prestat_get (i32.add (i32.const 3) (global.get $count)) (i32.const 200)))
      (global.set $count (i32.add (global.get $count) (i32.const 1)))
      (br $next)))
    (drop (call $environ_sizes_get (i32.const 208) (i32.const 212)))
    (call $number (i32.add (i32.mul (i32.const 100) (global.get $count)) (i32.load (i32.const 208))))`,
});

/** Opens a path below directory 3 and prints the errno. */
export const openPath = (path: string, rights: 'read' | 'write'): Uint8Array =>
  command({
    more: `(data (i32.const 700) "${path}")`,
    body: `(call $number (call $path_open (i32.const 3) (i32.const 0) (i32.const 700) (i32.const ${path.length})
      (i32.const ${rights === 'write' ? 1 : 0}) (i64.const ${rights === 'write' ? 0x40 : 0x2}) (i64.const 0) (i32.const 0) (i32.const 720)))`,
  });

/** Takes memory from `$top` upwards. */
export const REALLOC = `(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (global.get $top))
    (global.set $top (i32.add (local.get $at) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -16))))
    (local.get $at))`;

const echoCore = ({ first = '', start = '' }: { first?: string; start?: string }): string => `(module
  (memory (export "memory") 2)
  (global $top (mut i32) (i32.const 1024))
  (global $calls (mut i32) (i32.const 0))
  ${start === '' ? '' : `(func $start ${start}) (start $start)`}
  ${REALLOC}
  (func (export "execute") (param i32 i32) (result i32)
    (if (i32.ne (local.get 1) (i32.const 2)) (then ${first}))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    ;; A second call of the same instance would be an error.
    (i32.store8 (i32.const 64) (i32.ne (global.get $calls) (i32.const 1)))
    (i32.store (i32.const 68) (local.get 0))
    (i32.store (i32.const 72) (local.get 1))
    (i32.const 64)))`;

/**
 * A component whose `execute` returns its parameters. If they are not `{}`, it runs `first` before that. The code in
 * `start` runs when the instance is created.
 */
export const componentEcho = (acts: { first?: string; start?: string } = {}): Uint8Array =>
  component(
    EXECUTE_TYPES,
    section(1, [...wat(echoCore(acts))]),
    list(2, [0, 0, 0]),
    list(
      6,
      [0, 2, 1, 0, ...str('memory')],
      [0, 0, 1, 0, ...str('execute')],
      [0, 0, 1, 0, ...str('cabi_realloc')],
    ),
    list(8, [0, 0, 0, 3, 0, 3, 0, 4, 1, 1]),
    list(11, [0, ...str('execute'), 1, 0, 0]),
  );

export const COMPONENT_ECHO: Uint8Array = componentEcho();
