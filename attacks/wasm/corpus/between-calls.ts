/**
 * Attacks on what all parts of a component share, and on later calls in the same process.
 *
 * @module
 */
import { group, type WasmAttack } from '../attack.ts';
import { claim, CLOCK, POLL_READY, U64 } from '../interfaces.ts';

const SMALL = { limits: { cpu: '8s', memory: '64MiB', output: '1MiB' } };
const NO_LIMIT = { none: 'A process without limits has none that earlier calls could exhaust.' };
const OFTEN = 8;

const sums = group(
  {
    codes: ['resource_exceeded'],
    limits: ['memory'],
    manifest: () => SMALL,
    component: { helper: 'helper' },
  },
  {
    sum_memories: 'Takes more memory than the limit in two modules, and less in each.',
    sum_memories_after_lie: 'Returns pages that it never had, and takes more than the limit.',
    sum_tables: 'Takes more table entries in two modules than one may have.',
  },
);

const later = group(
  { codes: ['ok'], manifest: () => SMALL, calls: OFTEN, control: NO_LIMIT },
  {
    leave_budget_spent: [
      'Exhausts the budget of its memories, so that the next call has none.',
      { calls: 2, component: { helper: 'helper' } },
    ],
    fill_memory_for_next_call: [
      'Uses most of its memory, so that a later call is killed for it.',
      { component: {} },
    ],
    fill_memory_for_next_command:
      'Uses most of the memory of a command, so that a later call is killed for it.',
    leave_timers: [
      'Leaves 60,000 timers in the process in every call.',
      { component: { imports: [POLL_READY, CLOCK] } },
    ],
    use_fine_clock_of_component: [
      'Measures in a component with a clock that is fine enough to time caches.',
      {
        calls: 1,
        component: { imports: [claim('wasi:clocks/monotonic-clock@0.2.0', 'now', [], U64)] },
        control: { judge: 'reports' },
      },
    ],
  },
);

export const BETWEEN_CALLS_ATTACKS: readonly WasmAttack[] = [...sums, ...later];
