/**
 * Commands that exhaust time, memory and output, look at what they should not see, or persist into the next call.
 *
 * @module
 */
import { REACHED } from '../../runner/marker.ts';
import { at, BUFFER, command, data, forever, PATH } from './command.ts';

const spin = (body: string, extra = ''): string => command(forever(body), { extra });

/** Reads the granted environment, with NULs turned into blanks. */
const environment = command(
  `(call $must (call $environ_sizes_get (i32.const 16) (i32.const 20)))
   (call $must (call $environ_get (i32.const 4096) (i32.const ${BUFFER})))
   (block $end (loop $next (br_if $end (i32.ge_u (local.get $i) (i32.load (i32.const 20))))
     (if (i32.eqz (i32.load8_u (i32.add (i32.const ${BUFFER}) (local.get $i))))
       (then (i32.store8 (i32.add (i32.const ${BUFFER}) (local.get $i)) (i32.const 32))))
     (local.set $i (i32.add (local.get $i) (i32.const 1))) (br $next)))
   (call $say ${at(PATH, '{"environment":"')})
   (call $say (i32.const ${BUFFER}) (i32.load (i32.const 20))) (call $say (i32.const 320) (i32.const 2))`,
  { path: '{"environment":"' },
);

const NOW = '(call $must (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 16)))';
/** The clock of a call starts at one second. */
const clockBeyond = (nanoseconds: number): string =>
  command(
    `${NOW} (if (i64.gt_u (i64.load (i32.const 16)) (i64.const ${nanoseconds})) (then (call $succeed)) (else (call $fail)))`,
  );
/** Two readings that differ by less than 50 µs. */
const fineClock = command(
  `(local.set $i (i32.const 2000))
   (loop $next ${NOW} (local.set $t (i64.load (i32.const 16)))
     (block $changed (loop $wait ${NOW} (br_if $changed (i64.ne (local.get $t) (i64.load (i32.const 16)))) (br $wait)))
     (if (i64.lt_u (i64.sub (i64.load (i32.const 16)) (local.get $t)) (i64.const 50000)) (then (call $succeed) (return)))
     (br_if $next (local.tee $i (i32.sub (local.get $i) (i32.const 100)))))
   (call $fail)`,
);

/** Reports success if it finds what the previous call left. */
const remember = (look: string, leave: string, extra = ''): string =>
  command(`(if ${look} (then (call $succeed)) (else ${leave} (call $fail)))`, { extra });

const MIB = 1_048_576;
const growTable = command(
  `(loop $more (if (i32.eq (table.grow $t (ref.null func) (i32.const 1000000)) (i32.const -1)) (then (call $fail) (return)))
     (br_if $more (i32.lt_u (table.size $t) (i32.const 6000000)))) (call $succeed)`,
  { extra: '(table $t 1 funcref)' },
);

/** Prints a complete answer, exceeds a limit, and catches the host's exception. */
const swallow = command(
  `(call $fail) (try (do (loop $more (drop (call $print (i32.const 2) (i32.const ${BUFFER}) (i32.const 65536))) (br $more)))
     (catch_all)) (try (do (drop (call $print (i32.const 2) (i32.const ${BUFFER}) (i32.const 10)))) (catch_all))`,
);

export const LIMIT_PROGRAMS: Readonly<Record<string, string>> = {
  loop: spin(''),
  fill_memory_loop: spin('(memory.fill (i32.const 0) (i32.const 1) (i32.const 262144))'),
  copy_memory_loop: spin('(memory.copy (i32.const 0) (i32.const 131072) (i32.const 131072))'),
  branch_table_loop: spin('(br_table $again $again (i32.const 0))'),
  tail_call_loop: command('(call $turn)', { extra: '(func $turn (return_call $turn))' }),
  indirect_call_loop: spin(
    '(call_indirect (i32.const 0))',
    '(table 1 funcref) (func $nothing) (elem (i32.const 0) $nothing)',
  ),
  exception_loop: spin('(try (do (throw $e)) (catch $e))', '(tag $e)'),
  start_loop: command('(call $succeed)', { extra: `(func $start ${forever('')}) (start $start)` }),
  start_trap: command('(call $succeed)', { extra: '(func $start unreachable) (start $start)' }),
  host_call_loop: spin('(drop (call $random_get (i32.const 4096) (i32.const 8)))'),
  broker_call_loop: command(
    forever(`(drop (call $path_filestat_get (i32.const 3) (i32.const 0) ${at(PATH, 'x')} (i32.const 4096)))`),
    { path: 'x' },
  ),
  sleep_for_ever: command(
    `(call $must (call $print (i32.const 2) ${at(PATH, REACHED)}))
     (call $sleep (i64.const 1000000000000000)) (call $succeed)`,
    { path: REACHED },
  ),
  grow_memory: command(
    `(loop $more (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))
       (memory.fill (i32.mul (i32.sub (memory.size) (i32.const 1)) (i32.const 65536)) (i32.const 1) (i32.const 65536))
       (br_if $more (i32.lt_u (memory.size) (i32.const 5000)))) (call $succeed)`,
  ),
  grow_table: growTable,
  recurse: command('(call $down)', { extra: '(func $down (call $down) (call $down))' }),
  recurse_into_host: command('(call $down)', {
    extra: '(func $down (drop (call $random_get (i32.const 4096) (i32.const 8))) (call $down) (call $down))',
  }),
  flood_stdout: command(
    `(loop $more (call $say (i32.const ${BUFFER}) (i32.const ${MIB})) (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 24))))`,
    { memory: '20' },
  ),
  flood_stderr: command(
    `(loop $more (call $must (call $print (i32.const 2) (i32.const ${BUFFER}) (i32.const ${MIB})))
       (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 24)))) (call $succeed)`,
    { memory: '20' },
  ),
  swallow_the_end: swallow,
  exit_without_answer: command('(call $proc_exit (i32.const 0))'),
  exit_with_code: command('(call $fail) (call $proc_exit (i32.const 7))'),
  read_environment: environment,
  learn_uptime: clockBeyond(60_000_000_000),
  learn_time_between_calls: clockBeyond(1_500_000_000),
  use_fine_clock: fineClock,
  ask_for_much_randomness: command(
    '(call $must (call $random_get (i32.const 0) (i32.const 0xffffffff))) (call $succeed)',
  ),
  write_from_outside_memory: command(
    '(call $must (call $print (i32.const 1) (i32.const 0xfffffff0) (i32.const 0xffffffff))) (call $succeed)',
  ),
  read_to_outside_memory: command(
    `(i32.store (i32.const 0) (i32.const 0xfffffffc)) (i32.store (i32.const 4) (i32.const 100))
     (call $must (call $fd_read (i32.const 0) (i32.const 0) (i32.const 0x40000000) (i32.const 0xfffffffe))) (call $succeed)`,
  ),
  remember_in_memory: remember('(i32.load (i32.const 8192))', '(i32.store (i32.const 8192) (i32.const 1))'),
  remember_in_global: remember(
    '(global.get $seen)',
    '(global.set $seen (i32.const 1))',
    '(global $seen (mut i32) (i32.const 0))',
  ),
  remember_in_table: remember(
    '(i32.eqz (ref.is_null (table.get $t (i32.const 0))))',
    '(table.set $t (i32.const 0) (ref.func $mark))',
    '(table $t 1 funcref) (func $mark) (elem declare func $mark)',
  ),
  answer_deeply: command(
    `(memory.fill (i32.const ${BUFFER}) (i32.const 0x5b) (i32.const 100000))
     (memory.fill (i32.const ${BUFFER + 100_000}) (i32.const 0x5d) (i32.const 100000))
     (call $say (i32.const ${BUFFER}) (i32.const 200000))`,
    { memory: '8' },
  ),
  ...answers({
    answer_twice_the_key: '{"a":1,"a":"forged"}',
    answer_infinity: '{"a":1e999}',
    answer_not_a_number: '{"a":NaN}',
    answer_huge_integer: `{"a":${'9'.repeat(400)}}`,
    answer_prototype: '{"__proto__":{"polluted":true}}',
    answer_trailing: '{"a":1}{"t":"result"}',
    answer_surrogate: '{"a":"\\ud800"}',
  }),
  answer_invalid_utf8: command(`(call $say (i32.const ${BUFFER}) (i32.const 6))`, {
    extra: `(data (i32.const ${BUFFER}) "\\22\\ff\\fe\\c0\\80\\22")`,
  }),
};

/** Commands that print a constant. */
function answers(texts: Record<string, string>): Record<string, string> {
  const programs = Object.entries(texts).map(([name, text]) => [
    name,
    command(`(call $say (i32.const ${BUFFER}) (i32.const ${Buffer.byteLength(text)}))`, {
      extra: data(BUFFER, text),
    }),
  ]);
  return Object.fromEntries(programs) as Record<string, string>;
}
