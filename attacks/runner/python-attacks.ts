/**
 * The answers that every attack on Python in Wasm must get.
 *
 * @module
 */
import {
  CHOKES_READER,
  group,
  HANGS,
  limited,
  NO_REPLY,
  notShown,
  OFTEN,
  shownBy,
  TWICE,
  type Rest,
  type SkillAttack,
} from './skill-attack.ts';

const SPEAKS_TO_CELL = notShown('Only a cell of this engine speaks this protocol.');
const OF_THE_ENGINE = notShown('It targets the memory of this engine.');

/** The engine has no such module or function, which is the wall's answer. */
const NO_MEANS = ["No module named '_ctypes'", 'dlopen', "'socket' has no attribute 'AF_UNIX'"];

export const PYTHON_ATTACKS: readonly SkillAttack[] = [
  // Acts outside the grant that the harness or the broker detects and reports.
  ...group(
    `py_run_shell py_start_program py_fork py_spawn py_walk_subclasses py_unpickle_program py_connect
     py_send_datagram py_resolve py_read_secret py_run_host_file py_write_bundle py_climb_out`,
    ['capability_denied'],
  ),
  ...group('py_exec', ['capability_denied'], NO_REPLY),
  ...group(
    'py_write_library',
    ['capability_denied'],
    notShown('Only this engine has its library in one file.'),
  ),
  ...group(
    `py_fetch_other_path py_fetch_redirect py_fetch_dots py_fetch_other_method
     py_connect_beside_rule`,
    ['capability_denied'],
    { web: true },
  ),

  // Acts that the engine cannot do: the skill gets an error and fails with it.
  ...group(
    `py_import_ctypes py_load_native_library py_connect_past_harness py_silence_harness py_make_link
     py_start_thread py_open_many_files py_connect_unix`,
    ['skill_error'],
    { failsWith: NO_MEANS },
  ),
  ...group('py_follow_link', ['skill_error', 'capability_denied'], { link: true }),
  ...group('py_kill_neighbour', ['skill_error'], shownBy('kills-neighbour')),
  ...group('py_fetch_huge py_hold_responses', ['skill_error'], { web: true }),
  ...group('py_smuggle_target', ['skill_error', 'capability_denied'], { web: true }),

  // The skill looks and finds nothing.
  ...group(
    'py_make_builtin_modules py_walk_objects py_read_all_files py_read_descriptors py_read_environment',
    ['ok'],
  ),
  ...group('py_import_javascript', ['ok'], notShown("Only Pyodide's own JavaScript has that bridge.")),
  ...group('py_smuggle_request py_smuggle_host py_smuggle_length', ['ok'], { web: true }),
  ...group('py_smuggle_header', ['skill_error'], { web: true }),
  ...group('py_forge_request', ['ok'], { web: true, ...SPEAKS_TO_CELL }),
  ...group('py_forge_file_requests', ['ok'], SPEAKS_TO_CELL),

  // The next call finds nothing of this one.
  ...group(
    `py_read_previous_params py_patch_harness py_taint_builtins py_taint_imports py_taint_codecs py_taint_hooks
     py_taint_settings py_leave_files`,
    ['ok'],
    TWICE,
  ),
  ...group('py_predict_random py_use_fine_clock py_use_fine_cpu_clock py_learn_uptime', ['ok']),
  ...group('py_learn_cpu_of_previous_call', ['ok'], { ...TWICE }),
  ...group('py_fill_memory_for_next_call', ['ok'], { ...OFTEN }),
  ...group('py_forge_next_result', ['ok'], { ...TWICE, ...SPEAKS_TO_CELL }),

  // The channel, and replies.
  ...group('py_forge_denials', ['ok'], CHOKES_READER),
  ...group('py_forge_frames py_announce_huge_frame py_reply_deep', ['skill_error'], CHOKES_READER),
  ...group('py_outputs_backtrack', ['skill_error'], shownBy('stalls-check')),
  ...group('py_forge_unknown_capability py_forge_huge_error', ['skill_error'], CHOKES_READER),
  ...limited('py_forge_huge_denial', ['output'], CHOKES_READER),
  ...limited('py_announce_huge_payload', ['output'], CHOKES_READER),
  ...limited('py_return_huge', ['output', 'memory'], CHOKES_READER),
  ...limited('py_flood_requests', ['timeout', 'cpu', 'host_calls'], {
    timeout: 1000,
    ...SPEAKS_TO_CELL,
  }),
  ...group('py_interrupt_host_call', ['skill_error'], {
    calls: [{ depth: 45_000 }, { depth: 46_500 }, { depth: 47_000 }],
    ...SPEAKS_TO_CELL,
  }),
  ...group('py_nest_in_repr py_nest_in_json', ['skill_error'], OF_THE_ENGINE),
  ...group(
    `py_close_channel py_replace_channel py_exit py_raise_exit py_abort py_kill_itself 
     py_raise_hostile_error py_raise_terminal_codes`,
    ['skill_error'],
    NO_REPLY,
  ),
  ...group('py_crash_by_faulthandler', ['skill_error'], {
    failsWith: ["No module named 'faulthandler'"],
    ...NO_REPLY,
  }),
  ...group('py_exit_at_import', ['skill_error'], { loads: true, ...NO_REPLY }),
  ...group('py_forge_on_stdout', ['ok'], shownBy('forges-stdout')),

  // Corruption of the memory, which only affects the guest itself.
  ...group('py_pop_empty_stack py_load_wild_local', ['skill_error'], NO_REPLY),
  ...group('py_corrupt_at_import', ['skill_error'], { loads: true, ...NO_REPLY }),
  ...writer('wipe_data', 'Overwrites all data of the interpreter.', ['skill_error']),
  ...writer('write_beyond', 'Writes beyond the end of the memory.', ['skill_error']),
  ...writer('print_beyond', 'Makes the host read beyond the end of the memory.', ['skill_error']),
  ...writer('fill_beyond', 'Makes the host write beyond the end of the memory.', ['skill_error']),
  ...writer('hash_beyond', 'Makes the host hash what is not in the memory, or too much.', ['skill_error'], {
    calls: [
      { field: 4, value: 0xffff_ff00 },
      { field: 8, value: 0xffff_ffff },
      { field: 8, value: 0x10_0000 },
    ],
  }),
  ...writer('call_nowhere', 'Calls a function by an unused number.', ['skill_error']),
  ...writer('call_others', 'Calls arbitrary functions of the engine by number.', ['skill_error'], {
    calls: [1, 3000, 6000, 8500].map((first) => ({ first })),
  }),
  ...writer('rename_frames', 'Rewrites strings of the harness in memory.', ['skill_error']),
  ...writer('change_numbers', 'Changes the number one, for itself and the next call.', ['ok'], {
    calls: [
      { first: true, one: 1 },
      { first: false, one: 1 },
    ],
  }),
  ...writer('hide_in_tail', 'Leaves a word in unused memory for the next call.', ['ok'], TWICE),
  ...writer(
    'scan',
    'Searches the whole memory for secrets and for the parameters of an earlier call.',
    ['ok'],
    TWICE,
  ),

  // Limits.
  ...limited(
    'py_spin py_power py_backtrack py_ignore_signals py_return_hostile_object',
    ['timeout', 'cpu'],
    HANGS,
  ),
  ...limited('py_block_at_import', ['timeout', 'cpu'], { ...HANGS, loads: true }),
  ...limited('py_sleep', ['timeout'], HANGS),
  ...limited('py_fetch_slow', ['timeout'], { ...HANGS, web: true }),
  ...limited('py_fill_memory py_take_memory_at_once py_unzip_bomb', ['memory']),
  ...limited('py_fill_memory_at_import', ['memory'], { loads: true }),
  ...limited('py_fill_scratch py_make_sparse_file py_make_many_files', ['scratch']),
  ...group('py_truncate_files', ['ok'], notShown('A kernel counts the memory of files.')),
  ...limited('py_start_thread_raw', ['processes']),
  ...limited('py_flood_stdout', ['output'], shownBy('floods')),
  ...limited('py_flood_small_writes', ['output', 'timeout', 'cpu'], HANGS),
  ...group(
    'py_recurse py_recurse_in_c py_recurse_in_parser py_recurse_in_expressions',
    ['skill_error'],
    NO_REPLY,
  ),
  ...group(
    'py_free_deeply',
    ['skill_error'],
    notShown('Elsewhere, Python detects the end of its stack in time.'),
  ),
];

/** An act of the one skill that can write to the whole memory. */
// oxlint-disable-next-line max-params -- a row of a table
function writer(
  act: string,
  description: string,
  codes: SkillAttack['codes'],
  { calls = [{}] }: Pick<Rest, 'calls'> = {},
): SkillAttack[] {
  return group(`py_memory_${act}`, codes, {
    bundle: 'py_write_anywhere',
    description,
    calls: calls.map((call) => Object.assign({ act }, call)),
    ...OF_THE_ENGINE,
  });
}
