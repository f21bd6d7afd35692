/**
 * What enforces each field inside a jail on this machine.
 *
 * @module
 */
import type { Enforcement, EnforcementTable } from '../../../policy/enforcement.ts';
import type { CgroupDriver } from '../../linux/cgroup/cgroup.ts';
import { cgroupFix } from '../../linux/cgroup/delegation.ts';

const kernel = (how: string): Enforcement => ({ by: 'kernel', how });
const watchdog = (how: string): Enforcement => ({ by: 'watchdog', how });
const broker = (how: string): Enforcement => ({ by: 'broker', how });
const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

export function jailEnforcement(cgroups: CgroupDriver | undefined): EnforcementTable {
  return {
    filesystem: kernel('mount namespace: only granted paths exist'),
    'filesystem.max_bytes': nobody(
      'a bind mount has no quota; remove max_bytes, or grant the path read-only',
    ),
    network: broker(
      'empty network namespace; a gateway per cell: exact host, port and scheme, one lookup, private addresses refused',
    ),
    'network.websocket': broker('the gateway allows an upgrade only if a rule says ws or wss'),
    'network.inside_tls': nobody(
      'methods, paths and secrets of https and wss are encrypted by TLS, which the gateway does not read; have the operator set network.inspect_tls: true, or run the skill as wasm',
    ),
    env: kernel('empty environment: only declared and granted names'),
    'env.secret': broker('placeholders in the cell; replaced by the values in requests to declared hosts'),
    syscalls: kernel('seccomp filter'),
    programs: nobody('only commands of Agent Skills folders start programs; remove capabilities.programs'),
    skills: broker('the host makes the calls, each in a cell of its own with its own grant'),
    timeout: watchdog('SIGKILL of the pid namespace at the deadline'),
    cpu: kernel('RLIMIT_CPU'),
    'cpu.processes': cgroups?.countsCpu
      ? watchdog('CPU time of the control group, SIGKILL if exceeded')
      : nobody(`children that have exited are not counted; ${cgroupFix()}`),
    memory: cgroups ? kernel(`${cgroups.describe}, RLIMIT_DATA per process`) : nobody(cgroupFix()),
    'memory.processes': cgroups
      ? kernel(cgroups.describe)
      : nobody(`${cgroupFix()}; or remove limits.memory, and nothing limits the memory of several processes`),
    output: watchdog('counted while reading, SIGKILL if exceeded'),
    processes: kernel('seccomp, RLIMIT_NPROC inside the user namespace'),
    scratch: kernel('sized tmpfs, RLIMIT_FSIZE'),
  };
}

/** The table of a wall that is not available here. */
export function nothingEnforced(reason: string): EnforcementTable {
  const table = jailEnforcement(undefined);
  const entries = Object.keys(table).map((field) => [field, nobody(reason)]);
  return Object.fromEntries(entries) as EnforcementTable;
}
