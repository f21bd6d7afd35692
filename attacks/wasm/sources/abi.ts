/**
 * Components that lie to the linker: about addresses, lengths and contents.
 *
 * @module
 */
import { REACHED } from '../../runner/marker.ts';
import { data, forever } from './command.ts';
import { allocator, main, times } from './skill.ts';

const result = (tag: number, ptr: number, length: number): string =>
  main(`(call $answer (i32.const ${tag}) (i32.const ${ptr}) (i32.const ${length}))`);

const bytes = (text: string, length: number): string =>
  main(`(call $answer (i32.const 0) (i32.const 1024) (i32.const ${length}))`, {
    extra: `(data (i32.const 1024) "${text}")`,
  });

const MAX = 0xffffffff;
const POLL = ['[method]pollable.block', 'subscribe-duration', 'drop-pollable'];
const SECOND = '(i64.const 1000000)';

export const ALLOCATORS: Readonly<Record<string, string>> = {
  allocator: allocator(),
  allocator_large: allocator(undefined, 16),
  allocator_traps: allocator('unreachable'),
  allocator_loops: allocator(`${forever('')} unreachable`),
  allocator_points_outside: allocator('(i32.const 0xfffffff0)'),
  allocator_points_to_the_end: allocator('(i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1))'),
  allocator_misaligns: allocator('(i32.add (call $make (local.get $align) (local.get $size)) (i32.const 1))'),
  allocator_calls_back: allocator(
    '(call_indirect (type $hook) (i32.const 1)) (call $make (local.get $align) (local.get $size))',
  ),
};

/** For a component so large that its instances are reset instead of recreated: reports whether it finds its mark. */
const remember = (look: string, leave: string, extra = ''): string =>
  main(`(if (result i32) ${look} (then (call $succeed)) (else ${leave} (call $fail)))`, { extra });

const LOG_LINE = '(call $log (i32.const 1) (i32.const 512) (i32.const 18))';

export const ABI_PROGRAMS: Readonly<Record<string, string>> = {
  answer_outside_memory: main('(i32.const 0xfffffff8)'),
  answer_at_the_end: main('(i32.const 262140)'),
  answer_misaligned: main('(drop (call $succeed)) (i32.const 257)'),
  answer_bad_case: result(7, 512, 18),
  answer_string_outside: result(0, 0x7fffffff, 10),
  answer_string_too_long: result(0, 16, 0x7fffffff),
  answer_string_overflow: result(0, 16, MAX),
  answer_string_wraps: result(0, 0xfffffff0, 0x20),
  answer_string_null: result(0, 0, 0),
  answer_bad_utf8: bytes('\\22\\ff\\fe\\22', 4),
  answer_overlong_utf8: bytes('\\22\\c0\\80\\22', 4),
  answer_utf8_surrogate: bytes('\\22\\ed\\a0\\80\\22', 5),
  answer_utf16_surrogate: bytes('\\22\\00\\00\\d8\\22\\00', 3),
  answer_utf16_odd_address: main('(call $answer (i32.const 0) (i32.const 1025) (i32.const 3))'),
  answer_latin1_lie: bytes('\\22\\00a\\00\\22\\00', 0x80000003),
  answer_huge_string: main(
    `(drop (memory.grow (i32.const 400))) (memory.fill (i32.const 65536) (i32.const 97) (i32.const 25000000))
     (i32.store8 (i32.const 65536) (i32.const 34)) (i32.store8 (i32.const 25065535) (i32.const 34))
     (call $answer (i32.const 0) (i32.const 65536) (i32.const 25000000))`,
  ),
  hoard:
    '(module (memory 900) (func $start (memory.fill (i32.const 0) (i32.const 1) (i32.const 58982400))) (start $start))',
  succeed: main('(call $succeed)'),
  fail: main('(call $fail)'),
  echo: main('(call $answer (i32.const 0) (local.get $params) (local.get $length))'),
  loop_execute: main(`${forever('')} unreachable`),
  loop_post_return: main('(call $fail)', {
    extra: `(func (export "cabi_post_execute") (param i32) ${forever('')})`,
  }),
  call_in_post_return: main('(call $fail)', {
    uses: ['log'],
    extra: `(func (export "cabi_post_execute") (param i32) ${LOG_LINE})`,
  }),
  call_in_realloc: main('(call $succeed)', {
    uses: ['log'],
    extra: `(func $hook ${LOG_LINE}) (elem (i32.const 1) $hook)`,
  }),
  log_bad_level: main('(call $log (i32.const 99) (i32.const 512) (i32.const 18)) (call $succeed)', {
    uses: ['log'],
  }),
  log_outside_memory: main(
    '(call $log (i32.const 1) (i32.const 0xfffffff0) (i32.const 100)) (call $succeed)',
    {
      uses: ['log'],
    },
  ),
  log_huge: main('(call $log (i32.const 1) (i32.const 0) (i32.const 0xffffffff)) (call $succeed)', {
    uses: ['log'],
  }),
  log_flood: main(
    `${times(20_000, '(call $log (i32.const 1) (i32.const 0) (i32.const 4096))')} (call $succeed)`,
    { uses: ['log'] },
  ),
  remember_in_large_memory: remember(
    '(i32.load (i32.const 1048000))',
    '(i32.store (i32.const 1048000) (i32.const 1))',
  ),
  remember_by_growing: remember(
    '(i32.gt_u (memory.size) (i32.const 100))',
    '(drop (memory.grow (i32.const 100)))',
  ),
  remember_behind_growth: remember(
    `(i32.load (i32.mul (memory.grow (i32.const 1)) (i32.const 65536)))`,
    '(memory.fill (i32.const 65536) (i32.const 1) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 65536)))',
  ),
  remember_in_large_global: remember(
    '(global.get $seen)',
    '(global.set $seen (i32.const 1))',
    '(global $seen (mut i32) (i32.const 0))',
  ),
  remember_in_float: remember(
    '(i32.trunc_sat_f64_s (global.get $seen))',
    '(global.set $seen (f64.const 1))',
    '(global $seen (mut f64) (f64.const 0))',
  ),
  remember_in_reference: remember(
    '(i32.eqz (ref.is_null (global.get $seen)))',
    '(global.set $seen (ref.func $mark))',
    '(global $seen (mut funcref) (ref.null func)) (func $mark) (elem declare func $mark)',
  ),
  remember_in_large_table: remember(
    '(i32.eqz (ref.is_null (table.get 0 (i32.const 0))))',
    '(table.set 0 (i32.const 0) (ref.func $mark))',
    '(func $mark) (elem declare func $mark)',
  ),
  log_in_start: main('(call $fail)', { uses: ['log'], extra: `(func $start ${LOG_LINE}) (start $start)` }),
  raise_terminal_codes: main('(call $answer (i32.const 1) (i32.const 1024) (i32.const 21))', {
    extra: '(data (i32.const 1024) "\\1b]0;forged\\07\\1b[2J\\0a\\c2\\9b31m")',
  }),
  raise_huge_error: main(
    `(drop (memory.grow (i32.const 400))) (memory.fill (i32.const 65536) (i32.const 97) (i32.const 25000000))
     (call $answer (i32.const 1) (i32.const 65536) (i32.const 25000000))`,
  ),
  block_in_start: main('(call $succeed)', {
    uses: POLL,
    extra:
      '(func $start (call $pollable.block (call $subscribe-duration (i64.const 1000000000000000)))) (start $start)',
  }),
  loop_in_start: main('(call $succeed)', { extra: '(func $start (loop $more (br $more))) (start $start)' }),
  trap_in_start: main('(call $succeed)', { extra: '(func $start unreachable) (start $start)' }),
  swallow_exit: main('(try (do (call $exit (i32.const 0))) (catch_all)) (call $succeed)', { uses: ['exit'] }),
  exit_at_once: main('(call $exit (i32.const 0)) (call $succeed)', { uses: ['exit'] }),
  random_huge: main('(call $get-random-bytes (i64.const 1099511627776) (i32.const 16)) (call $succeed)', {
    uses: ['get-random-bytes'],
  }),
  random_to_outside: main('(call $get-random-bytes (i64.const 8) (i32.const 0xfffffffc)) (call $succeed)', {
    uses: ['get-random-bytes'],
  }),
  random_flood: main(
    `${times(300_000, '(call $get-random-bytes (i64.const 0) (i32.const 16))')} (call $succeed)`,
    { uses: ['get-random-bytes'] },
  ),
  block_for_ever: main(
    `(call $log (i32.const 1) (i32.const 1024) (i32.const ${REACHED.length}))
     (call $pollable.block (call $subscribe-duration (i64.const 1000000000000000))) (call $succeed)`,
    { uses: [...POLL, 'log'], extra: data(1024, REACHED) },
  ),
  many_pollables: main(`${times(10_000, `(drop (call $subscribe-duration ${SECOND}))`)} (call $succeed)`, {
    uses: POLL,
  }),
  many_streams: main(`${times(10_000, '(drop (call $get-stdout))')} (call $succeed)`, {
    uses: ['get-stdout', 'drop-output-stream'],
  }),
  forge_handle: main('(call $pollable.block (i32.const 77)) (call $succeed)', { uses: POLL }),
  forge_negative_handle: main('(call $drop-pollable (i32.const -1)) (call $succeed)', { uses: POLL }),
  use_after_drop: main(
    `(call $drop-pollable (local.tee $i (call $subscribe-duration ${SECOND}))) (call $pollable.block (local.get $i)) (call $succeed)`,
    { uses: POLL },
  ),
  drop_twice: main(
    `(call $drop-pollable (local.tee $i (call $subscribe-duration ${SECOND}))) (call $drop-pollable (local.get $i)) (call $succeed)`,
    { uses: POLL },
  ),
  confuse_handles: main('(call $pollable.block (call $get-stdout)) (call $succeed)', {
    uses: [...POLL, 'get-stdout', 'drop-output-stream'],
  }),
  lie_about_random: main(
    '(call $get-random-u64 (i32.const 512) (i32.const 8) (i32.const 16)) (call $succeed)',
    {
      claims: { 'get-random-u64': '(param i32 i32 i32)' },
    },
  ),
  lie_about_environment: main('(drop (call $get-environment)) (call $succeed)', {
    claims: { 'get-environment': '(result i64)' },
  }),
  lie_about_exit: main('(call $exit (i32.const 512) (i32.const 8)) (call $succeed)', {
    claims: { exit: '(param i32 i32)' },
  }),
  lie_about_handles: main('(call $pollable.block (i32.const 1)) (call $succeed)', {
    claims: { '[method]pollable.block': '(param i32)' },
  }),
};
