/**
 * The answers that every attack on jailed processes must get. Containers get the same attacks.
 *
 * @module
 */
import {
  afterSwapOf,
  CHOKES_READER,
  group,
  HANGS,
  limited,
  NO_REPLY,
  shownBy,
  TWICE,
  type SkillAttack,
} from './skill-attack.ts';

export const SUBPROCESS_ATTACKS: readonly SkillAttack[] = [
  // Acts outside the grant that the harness detects and reports; the kernel refuses them with or without it.
  ...group(
    `read_secret_file read_etc_passwd read_etc_shadow list_home_dirs exec_fresh_interpreter write_bundle
     write_bundle_code write_usr write_root write_etc hardlink_bundle call_32_bit_kernel open_kernel_settings
     climb_out_of_workspace climb_out_of_bundle walk_out_through_proc_cwd use_ungranted_workspace
     write_read_only_workspace connect_tcp fetch_http send_udp connect_with_hidden_import
     start_child run_shell spawn_by_vfork leave_bound_pair`,
    ['capability_denied'],
  ),
  // Acts that only the kernel sees: the skill gets a bare errno and fails with it.
  ...group(
    `read_secret_file_raw read_shared_tmp read_through_symlink write_dev change_root unshare_user unshare_mount
     unshare_network clone_new_user clone3_new_user join_namespace mount_tmpfs unmount_proc remount_writable
     open_mount_context clone_mount_tree trace_neighbour trace_me read_process_memory steal_descriptor
     use_keyring add_key io_uring userfaultfd perf_event_open fanotify watch_other_programs set_host_name
     raise_limits take_file_handle use_terminal type_into_terminal type_into_own_terminal connect_tcp_raw
     open_raw_socket open_packet_socket open_netlink_socket open_vsock_socket socket_family_with_high_bits
     attach_sysv_memory use_message_queue start_child_raw kill_neighbour
     read_host_shared_memory read_neighbour_memory walk_out_through_proc_root make_setuid_file take_all_aio
     sync_file_system read_page_cache hold_lease watch_folder enlarge_pipe hint_inode leave_fifo leave_socket_node
     connect_workspace_socket send_from_pair listen_on_unix_socket listen_on_loopback
     fill_tcp_buffers lower_core_limit outlive_killed_host multiply_descriptors clone_without_files take_all_timers`,
    ['skill_error'],
  ),
  // Whether the report arrives depends on how much of the harness the skill finds.
  ...group('tamper_with_harness', ['skill_error', 'capability_denied']),
  // In a jail the file cannot be read; in a container it is empty.
  ...group('read_kernel_keys', ['skill_error', 'ok']),
  // The harness refuses the library's call with a message, the kernel whatever bypasses it.
  ...group('connect_unix_socket connect_abstract_socket', ['capability_denied', 'skill_error']),
  // The skill looks and finds nothing.
  ...group(
    `read_ssh_key read_cloud_credentials read_own_environment read_environment_raw read_pid1_environment
     read_any_environment see_host_processes read_pid1_command_line read_mount_table use_inherited_descriptors
     read_supervisor_memory read_neighbour_descriptors learn_host_name open_raw_disk
     disable_address_randomisation hold_capabilities gain_privileges_by_exec run_without_filter dump_core
     find_control_sockets connect_from_child fetch_from_child find_any_socket write_run_folders
     link_in_place_of_socket`,
    ['ok'],
  ),
  ...group(
    `read_previous_params plant_file_for_next_call poison_interpreter_for_next_call leave_shared_memory
     leave_message_queue leave_semaphore leave_process_for_next_call leave_file_attributes`,
    ['ok'],
    TWICE,
  ),
  ...group('read_terminal_of_other_call see_sockets_of_other_call', ['ok'], { ...TWICE, together: true }),
  ...group('read_swapped_dir', ['capability_denied'], afterSwapOf('directory')),
  ...group('read_swapped_file', ['capability_denied'], afterSwapOf('file')),

  // Limits.
  ...limited('fill_tmp fill_dev_shm memfd_bomb', ['scratch']),
  // A bind mount has no quota, so only the size of one file can be limited.
  ...group('fill_workspace', ['skill_error', 'resource_exceeded'], { limits: ['scratch'] }),
  ...group('declare_quota_nobody_keeps', ['unenforceable']),
  ...limited('fork_bomb thread_bomb orphans_past_process_limit', ['processes']),
  ...limited(
    `heap_bomb shared_memory_bomb memfd_bomb_beside_workspace sysv_memory_bomb message_queue_bomb
     hold_unmapped_memory zero_device_memory_bomb page_table_bomb scattered_page_bomb`,
    ['memory'],
  ),
  ...limited('make_many_files', ['memory', 'scratch']),
  // The kernel kills one or all of the children.
  ...group('many_processes_memory memory_in_orphans', ['ok', 'resource_exceeded'], { limits: ['memory'] }),
  // gVisor has its own network stack, whose buffers are memory of the sandbox.
  ...group('tcp_buffers_beside_host', ['ok', 'resource_exceeded'], { limits: ['memory'] }),
  ...group('exhaust_descriptors', ['skill_error']),
  ...limited('flood_stdout flood_stderr flood_lines', ['output'], shownBy('floods')),
  ...limited(
    'frame_partial ignore_signals stop_itself spin sleep_past_deadline block_at_import close_channel',
    ['timeout'],
    HANGS,
  ),
  ...limited('spin_in_children spin_past_cpu_limit burn_in_unseen_children spin_in_orphans', ['cpu'], {
    ...HANGS,
    timeout: 10_000,
  }),

  // Host processes, and processes that stay.
  ...group('kill_process_group kill_parent', ['ok'], shownBy('kills-neighbour')),
  ...group('kill_everything', ['skill_error'], shownBy('kills-neighbour')),
  ...group('daemon_outlives_call zipped_daemon_outlives_call', ['ok'], shownBy('outlives')),
  ...group('child_keeps_channel_open', ['skill_error'], shownBy('outlives')),

  // Replies.
  ...group('forge_on_stdout print_terminal_codes', ['ok'], shownBy('forges-stdout')),
  // The first reply counts, data stays data, and nothing after it has an effect.
  ...group('reply_twice json_lone_surrogate json_prototype', ['ok'], CHOKES_READER),
  ...group('frame_garbage frame_flood', ['skill_error', 'resource_exceeded'], {
    ...CHOKES_READER,
    limits: ['output'],
  }),
  ...group('replace_modules', ['ok'], NO_REPLY),
  ...group(
    `frame_empty frame_not_utf8 frame_not_object frame_unknown_type forge_denials forge_receipt forge_ready_frame
     json_deep json_deep_objects json_duplicate_keys json_infinite_number json_huge_integer json_not_a_number
     json_trailing_data return_infinity return_forged_type`,
    ['skill_error'],
    CHOKES_READER,
  ),
  ...limited('frame_huge_length frame_negative_length json_huge json_many_values', ['output'], CHOKES_READER),
  ...limited('return_huge', ['output', 'memory'], CHOKES_READER),
  // Only replies may be large, and large ones delay no other call.
  ...limited(
    `frame_huge_denied frame_huge_used frame_huge_ready frame_huge_loaded frame_late_type frames_large_together`,
    ['output'],
    CHOKES_READER,
  ),
  ...group(
    `frames_many_bytes error_huge json_large_deep json_large_keys json_large_trailing unknown_capability
     unknown_limit`,
    ['skill_error'],
    CHOKES_READER,
  ),
  ...group('outputs_backtrack outputs_backtrack_keys', ['skill_error'], shownBy('stalls-check')),
  ...group(
    `return_bytes return_set return_itself exit_at_import exit_without_reply raise_system_exit die_by_signal
     crash_interpreter overflow_stack raise_hostile_error`,
    ['skill_error'],
    NO_REPLY,
  ),
];
