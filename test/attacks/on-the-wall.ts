/**
 * Attacks by subject. Each runs in its own jail; where cells are started differently, those that could behave differently
 * are run again. `skillcell attack` runs all of them.
 *
 * @module
 */
/** Attacks that the kernel stops, as configured by the container backend; others are stopped earlier, or by the host. */
export const ON_THE_WALL: readonly string[] = `
  write_bundle write_usr write_root write_etc hardlink_bundle call_32_bit_kernel open_kernel_settings
  climb_out_of_workspace walk_out_through_proc_cwd use_ungranted_workspace write_read_only_workspace connect_tcp
  connect_unix_socket start_child read_secret_file_raw read_shared_tmp read_through_symlink write_dev change_root
  unshare_user unshare_mount unshare_network clone_new_user clone3_new_user join_namespace mount_tmpfs unmount_proc
  remount_writable open_mount_context clone_mount_tree trace_neighbour trace_me read_process_memory steal_descriptor
  use_keyring add_key io_uring userfaultfd perf_event_open fanotify watch_other_programs set_host_name raise_limits
  take_file_handle type_into_terminal type_into_own_terminal connect_tcp_raw open_raw_socket open_packet_socket
  open_netlink_socket open_vsock_socket socket_family_with_high_bits connect_abstract_socket attach_sysv_memory
  use_message_queue start_child_raw kill_neighbour read_host_shared_memory walk_out_through_proc_root
  read_pid1_environment see_host_processes read_mount_table use_inherited_descriptors read_supervisor_memory
  learn_host_name make_setuid_file open_raw_disk hold_capabilities gain_privileges_by_exec run_without_filter
  find_control_sockets fill_tmp fill_dev_shm fork_bomb thread_bomb heap_bomb shared_memory_bomb sysv_memory_bomb
  make_many_files daemon_outlives_call kill_everything take_all_aio sync_file_system read_page_cache hold_lease
  watch_folder enlarge_pipe hint_inode leave_fifo leave_bound_pair connect_workspace_socket send_from_pair
  listen_on_unix_socket listen_on_loopback fill_tcp_buffers lower_core_limit read_kernel_keys hold_unmapped_memory
  page_table_bomb outlive_killed_host multiply_descriptors clone_without_files take_all_timers
  find_any_socket write_run_folders link_in_place_of_socket
  plant_file_for_next_call leave_shared_memory leave_message_queue leave_semaphore leave_process_for_next_call
  leave_file_attributes orphans_past_process_limit spin_in_orphans memory_in_orphans tcp_buffers_beside_host
  fill_workspace frame_flood
`
  .trim()
  .split(/\s+/);

/** A cell forked from a process that others are forked from could see or affect more of them. */
export const ON_THE_OTHERS: readonly string[] = `
  read_previous_params poison_interpreter_for_next_call read_terminal_of_other_call see_sockets_of_other_call
  read_neighbour_descriptors read_neighbour_memory kill_parent kill_process_group tamper_with_harness
  replace_modules exec_fresh_interpreter child_keeps_channel_open zipped_daemon_outlives_call close_channel
  forge_ready_frame reply_twice stop_itself die_by_signal crash_interpreter exit_at_import read_any_environment
`
  .trim()
  .split(/\s+/);
