/**
 * Components that exhaust what all their parts share, or that leave less for the next call.
 *
 * @module
 */
import { command } from './command.ts';
import { HELPER, main, times } from './skill.ts';

const must = (growth: string): string => `(if (i32.eq ${growth} (i32.const -1)) (then (unreachable)))`;
const MIB_40 = 640;
const MIB_50 = 800;
const MIB_60 = 960;
const HELPED = { helped: true };
const TIMER = `(local.set $n (call $subscribe-duration (i64.const 86400000000000)))
  (drop (call $pollable.ready (local.get $n))) (call $drop-pollable (local.get $n))`;
const BOTH_MEMORIES = `${must(`(memory.grow (i32.const ${MIB_40}))`)} ${must(`(call $helper_grow (i32.const ${MIB_40}))`)}`;
const FILL = `${must(`(memory.grow (i32.const ${MIB_60}))`)}
  (memory.fill (i32.const 262144) (i32.const 1) (i32.const ${MIB_60 * 65_536 - 262_144}))`;

export const BETWEEN_CALLS_PROGRAMS: Readonly<Record<string, string>> = {
  helper: HELPER,
  sum_memories: main(`${BOTH_MEMORIES} (call $succeed)`, HELPED),
  sum_memories_after_lie: main(
    `(drop (memory.grow (i32.const -${MIB_40}))) (drop (call $helper_grow (i32.const -${MIB_40}))) ${BOTH_MEMORIES} (call $succeed)`,
    HELPED,
  ),
  sum_tables: main(
    `${must('(table.grow 0 (ref.null func) (i32.const 150000))')} ${must('(call $helper_entries (i32.const 150000))')} (call $succeed)`,
    HELPED,
  ),
  leave_budget_spent: main(
    `(if (result i32) (i32.eq (call $helper_grow (i32.const ${MIB_50})) (i32.const -1)) (then (call $succeed)) (else (call $fail)))`,
    HELPED,
  ),
  fill_memory_for_next_call: main(`${FILL} (call $fail)`),
  fill_memory_for_next_command: command(`${FILL} (call $fail)`),
  leave_timers: main(`${times(60_000, TIMER)} (call $fail)`, {
    uses: ['[method]pollable.ready', 'subscribe-duration', 'drop-pollable'],
  }),
  use_fine_clock_of_component: main(
    `(loop $next (global.set $t (call $now))
       (loop $wait (br_if $wait (i64.eq (global.get $t) (call $now))))
       (if (i64.lt_u (i64.sub (call $now) (global.get $t)) (i64.const 50000)) (then (return (call $succeed))))
       (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 50))))
     (call $fail)`,
    { claims: { now: '(result i64)' }, extra: '(global $t (mut i64) (i64.const 0))' },
  ),
};
