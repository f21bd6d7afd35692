/**
 * Core modules of components: each is linked with its own allocator and exports `execute`.
 *
 * @module
 */
import { data } from './command.ts';

const SUCCESS = '{"succeeded":true}';
const FAILURE = '{"succeeded":false}';
const [TEXTS, ANSWER] = [512, 256] as const;

/** Imports of `host` with their flattened types. */
const HOST: Record<string, string> = {
  log: '(param i32 i32 i32)',
  fetch: '(param i32 i32 i32 i32 i32 i32 i32 i32 i32)',
  exit: '(param i32)',
  'get-random-bytes': '(param i64 i32)',
  'subscribe-duration': '(param i64) (result i32)',
  '[method]pollable.block': '(param i32)',
  '[method]pollable.ready': '(param i32) (result i32)',
  'drop-pollable': '(param i32)',
  'get-stdout': '(result i32)',
  'drop-output-stream': '(param i32)',
};

export interface MainOptions {
  /** Imports from `host`; called as `$` and the name without brackets. */
  uses?: readonly string[];
  /** Whether it imports the functions of the helper. */
  helped?: boolean;
  /** Other imports from `host`, by name and type. */
  claims?: Readonly<Record<string, string>>;
  extra?: string;
}

/** `execute` has the locals $params, $length, $i and $n; `$answer` builds a result from a tag and a string. */
export function main(
  body: string,
  { uses = [], helped = false, claims = {}, extra = '' }: MainOptions = {},
): string {
  const types = { ...Object.fromEntries(uses.map((name) => [name, HOST[name]])), ...claims };
  const imports = Object.entries(types).map(
    ([name, type]) => `(import "host" "${name}" (func $${plain(name)} ${type}))`,
  );
  return `(module (import "env" "memory" (memory 1))
  (import "env" "cabi_realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
  (import "env" "table" (table 2 funcref))
  ${imports.join('\n')} ${helped ? HELPER_IMPORTS : ''} ${data(TEXTS, SUCCESS + FAILURE)}
  (func $answer (param $tag i32) (param $ptr i32) (param $len i32) (result i32)
    (i32.store8 (i32.const ${ANSWER}) (local.get $tag)) (i32.store (i32.const ${ANSWER + 4}) (local.get $ptr))
    (i32.store (i32.const ${ANSWER + 8}) (local.get $len)) (i32.const ${ANSWER}))
  (func $succeed (result i32) (call $answer (i32.const 0) (i32.const ${TEXTS}) (i32.const ${SUCCESS.length})))
  (func $fail (result i32) (call $answer (i32.const 0) (i32.const ${TEXTS + SUCCESS.length}) (i32.const ${FAILURE.length})))
  ${extra}
  (func (export "execute") (param $params i32) (param $length i32) (result i32) (local $i i32) (local $n i32) ${body}))`;
}

function plain(name: string): string {
  return name.replace(/^\[.*\]/, '');
}

const HELPER_IMPORTS = `(import "helper" "grow" (func $helper_grow (param i32) (result i32)))
  (import "helper" "entries" (func $helper_entries (param i32) (result i32)))`;

/** A private memory and table, and functions that grow them and fill what they got. */
export const HELPER = `(module (memory 1) (table $t 1 funcref)
  (func (export "grow") (param $pages i32) (result i32) (local $before i32)
    (local.set $before (memory.grow (local.get $pages)))
    (if (i32.ne (local.get $before) (i32.const -1))
      (then (memory.fill (i32.shl (local.get $before) (i32.const 16)) (i32.const 1) (i32.shl (local.get $pages) (i32.const 16)))))
    (local.get $before))
  (func (export "entries") (param i32) (result i32) (table.grow $t (ref.null func) (local.get 0))))`;

/** Repeats a body `count` times. */
export const times = (count: number, body: string): string =>
  `(loop $more ${body} (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const ${count}))))`;

/** Memory and allocator; `$made` returns the address of the allocation. */
export function allocator(realloc?: string, pages = 4): string {
  return `(module (memory (export "memory") ${pages}) (table (export "table") 2 funcref) (type $hook (func))
  (global $next (mut i32) (i32.const 65536))
  (func $make (param $align i32) (param $size i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.sub (local.get $align) (i32.const 1))) (i32.sub (i32.const 0) (local.get $align))))
    (global.set $next (i32.add (local.get $at) (local.get $size)))
    (if (i32.gt_u (global.get $next) (i32.mul (memory.size) (i32.const 65536)))
      (then (drop (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))))))
    (local.get $at))
  (func (export "cabi_realloc") (param $old i32) (param $oldSize i32) (param $align i32) (param $size i32) (result i32)
    ${realloc ?? '(call $make (local.get $align) (local.get $size))'}))`;
}
