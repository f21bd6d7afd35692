/**
 * The attacks on jails, in containers of one make: none gets further.
 *
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import type { MakeName } from '../../src/cell/container/contract.ts';
import type { PoolOptions } from '../../src/cell/pool.ts';
import { createRuntime } from '../../src/index.ts';
import { seedImages } from '../cell/container-images/base-image.ts';

const RUN_MS = 240_000;

/** What stops these is the kernel, as the make of container has set it up; others are stopped before, or by the host. */
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
  make_many_files daemon_outlives_call kill_everything
`
  .trim()
  .split(/\s+/);

export interface ContainerAttacks {
  make: MakeName;
  names: readonly string[];
  pool?: PoolOptions;
  lanes?: number;
}

export function attackContainers({ make, names, pool = { size: 0 }, lanes = 2 }: ContainerAttacks): void {
  describe(`in containers of ${make}`, () => {
    let rows: Map<string, AttackRow>;
    beforeAll(async () => void (rows = await run({ make, names, pool, lanes })), RUN_MS);

    it.each(names)('stops %s', (name) => {
      expect(rows.get(name), rows.get(name)?.evidence).toMatchObject({ stopped: true });
      expect(rows.get(name)?.unexpected).toBeUndefined();
    });
  });
}

async function run({
  make,
  names,
  pool,
  lanes,
}: Required<ContainerAttacks>): Promise<Map<string, AttackRow>> {
  const home = mkdtempSync(join(tmpdir(), 'skillcell-home-'));
  // Cells of a root host run as nobody in particular and have to reach the store.
  chmodSync(home, 0o755);
  try {
    await seedImages(home);
    await using runtime = createRuntime({ home, pool, container: { makes: [make] } });
    const rows = await runAttacks({
      mode: 'container',
      names,
      lanes,
      execute: (bundle, params, call) => runtime.execute(bundle, params, { ...call, reject: false }),
    });
    return new Map(rows.map((row) => [row.name, row]));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
