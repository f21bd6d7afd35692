/**
 * The answers that every attack on JavaScript in Wasm must get.
 *
 * @module
 */
import type { LimitName } from '../../src/for-attacks.ts';
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

const OF_THE_HARNESS = notShown('It targets the harness of this engine.');
const OF_THE_ENGINE = notShown('Node has no such limit, or a different one.');
/** An endless attack need not be watched for long. */
const BRIEFLY: Rest = { ...HANGS, timeout: 500 };
const LIKE_SPINNING = notShown('It never ends, like js_spin.');
/** The first limit that is reached stops an endless attack. */
const ENDLESS: readonly LimitName[] = ['timeout', 'cpu', 'fuel'];

export const JS_ATTACKS: readonly SkillAttack[] = [
  // Acts outside the grant that the cell or the broker detects and reports.
  ...group(
    `js_read_secret js_climb_out js_climb_out_of_workspace js_read_process js_list_root js_connect
     js_hidden_fetch js_fetch_by_number`,
    ['capability_denied'],
  ),
  ...group(
    `js_fetch_other_path js_fetch_redirect js_fetch_dots js_fetch_encoded_dots js_fetch_other_method
     js_fetch_other_port`,
    ['capability_denied'],
    { web: true },
  ),
  ...group('js_fetch_user_info', ['capability_denied', 'skill_error'], {
    web: true,
    ...notShown('Node rejects URLs with credentials.'),
  }),
  ...group('js_fetch_file js_read_with_zero', ['skill_error', 'capability_denied'], OF_THE_ENGINE),
  ...group('js_follow_link', ['skill_error', 'capability_denied'], { link: true }),

  // Requests that can be read in only one way.
  ...group('js_smuggle_header', ['skill_error'], { web: true, ...OF_THE_ENGINE }),
  ...group('js_smuggle_host js_smuggle_length', ['ok', 'skill_error'], { web: true, ...OF_THE_ENGINE }),
  ...group('js_smuggle_request', ['skill_error', 'capability_denied'], {
    web: true,
    ...OF_THE_ENGINE,
  }),
  ...group('js_fetch_huge', ['skill_error'], { web: true, ...OF_THE_ENGINE }),
  ...limited('js_fetch_slow', ['timeout'], { ...BRIEFLY, web: true }),

  // The skill looks and finds nothing.
  ...group('js_read_environment js_walk_constructors js_eval js_import_node js_import_urls', ['ok']),
  ...group('js_use_fine_clock', ['ok']),
  ...group('js_import_files js_import_from_made_code', ['ok']),
  ...group(
    'js_import_prelude js_stack_frames js_capture_internals js_shrink_buffer js_species',
    ['ok'],
    OF_THE_HARNESS,
  ),

  // The next call finds nothing of this one.
  ...group(
    `js_leave_globals js_leave_module_state js_leave_prototypes js_replace_builtins js_replace_web_functions
     js_leave_modules js_leave_environment js_leave_timers js_leave_jobs js_leave_weak_references js_leave_regexp
     js_leave_iterators js_read_previous_params js_leave_in_large_memory`,
    ['ok'],
    TWICE,
  ),
  ...group('js_fill_memory_for_next_call', ['ok'], { ...OFTEN }),

  // The channel, and replies.
  ...group('js_forge_on_stdout', ['ok'], shownBy('forges-stdout')),
  ...group('js_pollute_objects js_reply_twice', ['ok'], OF_THE_HARNESS),
  ...group('js_pollute_to_json', ['capability_denied'], OF_THE_HARNESS),
  ...group(
    'js_pollute_answers js_pollute_error js_reply_no_json js_reply_deep js_reply_no_text js_reply_nothing',
    ['skill_error'],
    OF_THE_HARNESS,
  ),
  ...group('js_reply_prototype', ['skill_error', 'ok'], OF_THE_HARNESS),
  ...limited('js_reply_huge', ['output', 'memory'], OF_THE_HARNESS),
  ...limited('js_return_huge', ['output', 'memory'], CHOKES_READER),
  ...group(
    `js_return_cycle js_return_bigint js_return_getters js_return_proxy js_return_revoked_proxy js_return_thenable
     js_never_settles js_reject_unheard js_throw_null js_throw_proxy js_throw_getters
     js_throw_terminal_codes js_throw_huge js_throw_circle`,
    ['skill_error'],
    NO_REPLY,
  ),
  // Large and hostile replies delay no other call.
  ...group('js_outputs_backtrack', ['skill_error'], shownBy('stalls-check')),
  ...group('js_return_megabytes', ['skill_error'], CHOKES_READER),
  ...group('js_throw_huge_fields', ['skill_error'], NO_REPLY),
  ...group('js_exit', ['skill_error'], { failsWith: ['not a function'], ...NO_REPLY }),
  ...group('js_throw_at_import js_wait_at_import', ['skill_error'], { loads: true, ...NO_REPLY }),
  ...group('js_source_map', ['skill_error'], NO_REPLY),

  // Limits.
  ...limited('js_spin js_spin_in_promises js_backtrack js_power', ENDLESS, BRIEFLY),
  ...limited(
    `js_spin_in_await js_spin_in_generator js_spin_in_getters js_sort js_return_slow_getter js_return_slow_to_json
     js_throw_slow`,
    ENDLESS,
    { ...BRIEFLY, ...LIKE_SPINNING },
  ),
  ...limited('js_spin_at_import', ENDLESS, { ...BRIEFLY, loads: true, ...LIKE_SPINNING }),
  ...limited('js_sleep js_never_settles_with_timer', ['timeout'], BRIEFLY),
  ...group('js_atomics_wait', ['skill_error', 'resource_exceeded'], {
    ...BRIEFLY,
    limits: ['timeout'],
    failsWith: ['Atomics is not defined'],
  }),
  ...limited('js_fill_memory', ['memory'], NO_REPLY),
  ...limited('js_fill_memory_at_import', ['memory'], { loads: true, ...NO_REPLY }),
  ...limited('js_fill_memory_by_promises js_fill_list', ['memory', ...ENDLESS], {
    timeout: 1000,
    ...OF_THE_ENGINE,
  }),
  ...group('js_double_text js_take_memory_at_once', ['resource_exceeded', 'skill_error'], {
    limits: ['memory'],
    ...OF_THE_ENGINE,
  }),
  ...limited('js_flood_console', ['output'], shownBy('floods')),
  ...limited('js_flood_timers', ['handles'], OF_THE_HARNESS),
  ...limited('js_flood_files', ['host_calls', ...ENDLESS], { timeout: 500, ...OF_THE_HARNESS }),
  ...group(
    'js_recurse js_recurse_in_getters js_recurse_in_parser js_recurse_in_expression',
    ['skill_error'],
    {
      failsWith: ['too many captures'],
      ...NO_REPLY,
    },
  ),
  ...group('js_recurse_in_json', ['skill_error'], OF_THE_ENGINE),
];
