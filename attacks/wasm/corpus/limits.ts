/**
 * Attacks on limits, on what a call may see, and on the call after it.
 *
 * @module
 */
import { group, type Draft, type WasmAttack } from '../attack.ts';
import { CLOCK, EXIT, LOG, POLL, RANDOM, STDOUT, STREAMS } from '../interfaces.ts';

/** The deadline is that of the call; on a busy machine it may need another try with a longer one. */
const SHORT = { limits: { cpu: '300ms', memory: '64MiB', output: '1MiB' } };
const LIMITED = { codes: ['resource_exceeded'], manifest: () => SHORT, timeout: 2000 } as const;
const SAME_WITHOUT = { none: 'The engine itself stops it.' };

const time = group(
  { ...LIMITED, limits: ['fuel', 'cpu', 'timeout'], control: { judge: 'hangs' } },
  {
    loop: 'Loops forever.',
    fill_memory_loop: 'Fills memory forever.',
    copy_memory_loop: 'Copies memory forever.',
    branch_table_loop: 'Loops through a branch table.',
    tail_call_loop: 'Calls itself forever with tail calls.',
    indirect_call_loop: 'Calls through a table forever.',
    exception_loop: 'Throws and catches forever.',
    start_loop: 'Loops in the start function, before any call.',
    loop_in_start: [
      'Loops in the start function of a component, whose instance is created ahead of any call.',
      { calls: 2, component: {} },
    ],
    host_call_loop: 'Requests random numbers from the host forever.',
    loop_execute: ['Loops in a component.', { component: {} }],
    loop_post_return: [
      'Loops after the answer was read.',
      { component: { postReturn: true }, control: { none: 'A careless host does not call post-return.' } },
    ],
    allocator_loops: [
      'Loops when the host requests memory.',
      { program: 'echo', component: { allocator: 'allocator_loops' } },
    ],
  },
);

const waiting = group(
  { ...LIMITED, limits: ['timeout'], timeout: 1000, control: { judge: 'hangs' } },
  {
    sleep_for_ever: 'Sleeps past its deadline.',
    block_for_ever: ['Waits for a clock past its deadline.', { component: { imports: [POLL, CLOCK, LOG] } }],
  },
);

const calls = group(
  { ...LIMITED, limits: ['host_calls', 'timeout', 'cpu'] },
  {
    broker_call_loop: ['Sends requests to the broker forever.', { control: { judge: 'hangs' } }],
    random_flood: ['Calls the host hundreds of thousands of times.', { component: { imports: [RANDOM] } }],
  },
);

const space = group(
  { ...LIMITED, limits: ['memory'] },
  {
    grow_memory: 'Grows its memory endlessly.',
    grow_table: ['Grows a table endlessly.', { codes: ['ok'] }],
    recurse: ['Recurses until the stack overflows.', { codes: ['skill_error'], control: SAME_WITHOUT }],
    recurse_into_host: [
      'Recurses through the host until the stack overflows inside the host.',
      { codes: ['skill_error'], control: SAME_WITHOUT },
    ],
  },
);

const output = group(
  { ...LIMITED, limits: ['output'] },
  {
    flood_stdout: ['Answers with 24 MB.', { control: { judge: 'chokes-reader' } }],
    flood_stderr: ['Prints 24 MB of errors.', { control: { judge: 'floods' } }],
    log_flood: ['Logs 80 MB.', { component: { imports: [LOG] }, control: { judge: 'floods' } }],
    log_huge: [
      'Logs a line of 4 GB.',
      { codes: ['skill_error', 'resource_exceeded'], component: { imports: [LOG] }, control: SAME_WITHOUT },
    ],
    answer_huge_string: [
      'Answers with a string of 25 MB.',
      { component: {}, control: { judge: 'chokes-reader' } },
    ],
    random_huge: [
      'Requests a terabyte of random numbers.',
      { component: { imports: [RANDOM] }, control: SAME_WITHOUT },
    ],
    swallow_the_end: ['Catches the exception that ends it and continues.', { control: { judge: 'hangs' } }],
  },
);

const handles = group(
  { ...LIMITED, limits: ['handles'] },
  {
    many_pollables: ['Creates pollables and never drops them.', { component: { imports: [POLL, CLOCK] } }],
    many_streams: ['Opens stdout again and again.', { component: { imports: [STREAMS, STDOUT] } }],
  },
);

const ends = group(
  { codes: ['skill_error'], control: { judge: 'no-reply' } },
  {
    exit_without_answer: 'Exits with success, but without an answer.',
    exit_with_code: 'Answers and exits with an error.',
    exit_at_once: ['Exits from a component.', { component: { imports: [EXIT] } }],
    swallow_exit: ['Exits, catches the exit and answers.', { component: { imports: [EXIT] } }],
    start_trap: 'Traps in the start function.',
    block_in_start: [
      'Waits in the start function of a component.',
      { component: { imports: [POLL, CLOCK] }, control: { judge: 'hangs' } },
    ],
    raise_terminal_codes: [
      'Fails with a message that contains terminal control codes.',
      { component: {}, control: { judge: 'chokes-reader' } },
    ],
    raise_huge_error: [
      'Fails with a message of 25 MB.',
      {
        codes: ['resource_exceeded'],
        limits: ['output'],
        component: {},
        control: { judge: 'chokes-reader' },
      },
    ],
    trap_in_start: ['Traps in the start function of a component.', { component: {} }],
    ask_for_much_randomness: 'Requests random numbers beyond its memory.',
    write_from_outside_memory: 'Prints from outside its memory.',
    read_to_outside_memory: 'Reads its input to an address outside its memory.',
  },
);

/** Two calls of a component whose memory is so large that its instances are reset. */
const SET_BACK: Draft = { calls: 2, component: { allocator: 'allocator_large' } };
const SET_BACK_UNSEEN: Draft = {
  ...SET_BACK,
  control: { none: 'Memory that an engine adds is always empty.' },
};

const looking = group(
  { codes: ['ok'] },
  {
    read_environment: [
      'Reads every variable of the environment.',
      { manifest: () => ({ env_vars: { GREETING: { required: false } } }) },
    ],
    learn_uptime: 'Learns from a clock how long the host has been up.',
    learn_time_between_calls: ['Learns from a clock how long it was idle.', { calls: 2, pauseMs: 700 }],
    use_fine_clock: 'Measures with a clock that is fine enough to time caches.',
    remember_in_memory: ['Leaves data in memory for the next call.', { calls: 2 }],
    remember_in_global: ['Leaves data in a global for the next call.', { calls: 2 }],
    remember_in_table: ['Leaves data in a table for the next call.', { calls: 2 }],
    remember_in_large_memory: ['Leaves data in a memory that is reused.', SET_BACK],
    remember_by_growing: ['Leaves its memory larger for the next call.', SET_BACK],
    remember_behind_growth: ['Looks for its mark in newly grown memory.', SET_BACK_UNSEEN],
    remember_in_large_global: ['Leaves data in a global of a reused instance.', SET_BACK],
    remember_in_float: ['Leaves data in a float global.', SET_BACK],
    remember_in_reference: ['Leaves data in a reference global.', SET_BACK],
    remember_in_large_table: ['Leaves data in a table of a reused instance.', SET_BACK],
    log_in_start: [
      'Logs while its instance is created ahead of any call.',
      { calls: 2, component: { imports: [LOG] }, control: { none: 'It only matters for calls after it.' } },
    ],
  },
);

const answers = group(
  { codes: ['skill_error'], control: { judge: 'chokes-reader' } },
  {
    answer_deeply: 'Answers with 100,000 nested arrays.',
    answer_twice_the_key: 'Answers with the same key twice.',
    answer_infinity: 'Answers with a number that overflows to infinity.',
    answer_not_a_number: 'Answers with NaN.',
    answer_huge_integer: [
      'Answers with an integer of 400 digits.',
      { control: { none: 'The parser of the control room supports integers of any size.' } },
    ],
    answer_trailing: 'Answers twice.',
    answer_invalid_utf8: [
      'Answers with bytes that are not valid UTF-8.',
      { control: { none: 'A careless host repairs it.' } },
    ],
    answer_prototype: ['Answers with a "__proto__" key.', { codes: ['ok'] }],
    answer_surrogate: ['Answers with a lone surrogate.', { codes: ['ok'] }],
  },
);

export const LIMIT_ATTACKS: readonly WasmAttack[] = [
  ...time,
  ...waiting,
  ...calls,
  ...space,
  ...output,
  ...handles,
  ...ends,
  ...looking,
  ...answers,
];
