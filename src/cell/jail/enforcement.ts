/**
 * Who enforces what inside a jail on this machine.
 *
 * @module
 */
import type { Enforcement, EnforcementTable } from '../../policy/enforcement.ts';
import type { CgroupDriver } from './cgroup/cgroup.ts';

const kernel = (how: string): Enforcement => ({ by: 'kernel', how });
const watchdog = (how: string): Enforcement => ({ by: 'watchdog', how });
const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

export function jailEnforcement(cgroups: CgroupDriver | undefined): EnforcementTable {
  return {
    filesystem: kernel('mount namespace: only granted paths exist'),
    'filesystem.max_bytes': nobody(
      'a bind mount has no quota; leave max_bytes out or grant the path read-only',
    ),
    network: nobody(
      'a cell has no network, and no egress gateway exists yet to open single hosts; declare none',
    ),
    'network.websocket': nobody('a cell has no network; declare no rule with the scheme ws or wss'),
    env: kernel('empty environment: only declared and granted names'),
    'env.secret': nobody('secrets need the egress gateway, which does not exist yet; declare none'),
    syscalls: kernel('seccomp filter'),
    timeout: watchdog('SIGKILL of the pid namespace at the deadline'),
    cpu: kernel('RLIMIT_CPU per process, watchdog for the whole cell'),
    memory: cgroups
      ? kernel(`${cgroups.describe}, RLIMIT_DATA per process`)
      : watchdog('polled every 40 ms, RLIMIT_DATA per process; a writable memory cgroup would make it exact'),
    output: watchdog('counted while it is read, SIGKILL beyond'),
    processes: kernel('seccomp, RLIMIT_NPROC inside the user namespace'),
    scratch: kernel('sized tmpfs, RLIMIT_FSIZE'),
  };
}

/** The table of a wall that cannot be used here. */
export function nothingEnforced(reason: string): EnforcementTable {
  const table = jailEnforcement(undefined);
  const entries = Object.keys(table).map((field) => [field, nobody(reason)]);
  return Object.fromEntries(entries) as EnforcementTable;
}
