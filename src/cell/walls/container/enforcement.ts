/**
 * What enforces each field in a container on this machine. Mostly the same as for a jail, because the kernel is the same.
 *
 * @module
 */
import type { Enforcement, EnforcementTable } from '../../../policy/enforcement.ts';
import type { EnforcedField } from '../../../vocabulary/capabilities.ts';
import type { CgroupDriver } from '../../linux/cgroup/cgroup.ts';
import { jailEnforcement } from '../jail/enforcement.ts';

const kernel = (how: string): Enforcement => ({ by: 'kernel', how });
const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

/** A new field has to be named here, or in the tables below: what a jail enforces, a container may not. */
const AS_IN_A_JAIL = [
  'filesystem.max_bytes',
  'network',
  'network.websocket',
  'network.inside_tls',
  'env',
  'env.secret',
  'programs',
  'skills',
  'cpu',
  'cpu.processes',
  'memory',
  'memory.processes',
  'output',
  'processes',
  'scratch',
] as const satisfies readonly EnforcedField[];

function asInJail(cgroups: CgroupDriver | undefined): Pick<EnforcementTable, (typeof AS_IN_A_JAIL)[number]> {
  const table = jailEnforcement(cgroups);
  const shared = AS_IN_A_JAIL.map((field) => [field, table[field]] as const);
  return Object.fromEntries(shared) as Pick<EnforcementTable, (typeof AS_IN_A_JAIL)[number]>;
}

/** For an OCI runtime that we run ourselves, in our own cgroups. */
export function ociEnforcement(cgroups: CgroupDriver | undefined): EnforcementTable {
  return {
    ...asInJail(cgroups),
    ...(cgroups ? { memory: kernel(cgroups.describe) } : {}),
    filesystem: kernel('mount namespace: the image, the bundle and granted paths; the root is read-only'),
    syscalls: kernel('seccomp profile of the runtime, from the policy of the jail'),
    timeout: { by: 'watchdog', how: 'SIGKILL of the first process at the deadline' },
  };
}

/** For an engine that creates the cgroups itself; `limits` is false if it accepts limits and ignores them. */
export function engineEnforcement(
  cgroup: string,
  limits: { memory: boolean; pids: boolean },
): EnforcementTable {
  const ignored = `a rootless engine on ${cgroup} accepts the limit and ignores it; use cgroup v2 with delegation, or run Skillcell as root`;
  return {
    ...ociEnforcement(undefined),
    memory: limits.memory ? kernel(`${cgroup} of the engine`) : nobody(ignored),
    processes: limits.pids ? kernel(`seccomp, pids of ${cgroup}`) : nobody(ignored),
    'memory.processes': limits.memory ? kernel(`${cgroup} of the engine`) : nobody(ignored),
    cpu: kernel('RLIMIT_CPU'),
    'cpu.processes': limits.memory
      ? { by: 'watchdog', how: 'CPU time of the container, SIGKILL if exceeded' }
      : nobody(ignored),
  };
}

/** For gVisor, whose own kernel runs between the skill and the host kernel. */
export function gvisorEnforcement(cgroups: CgroupDriver | undefined): EnforcementTable {
  return {
    ...ociEnforcement(cgroups),
    processes: nobody(
      'gVisor does not count processes; remove limits.processes, or use crun, runc, podman or docker',
    ),
  };
}
