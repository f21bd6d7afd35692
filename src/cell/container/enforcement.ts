/**
 * Who enforces what in a container on this machine. Most of it is what holds for a jail: the kernel is the same.
 *
 * @module
 */
import type { Enforcement, EnforcementTable } from '../../policy/enforcement.ts';
import type { CgroupDriver } from '../jail/cgroup/cgroup.ts';
import { jailEnforcement } from '../jail/enforcement.ts';

const kernel = (how: string): Enforcement => ({ by: 'kernel', how });
const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

/** Of an OCI runtime that we drive ourselves, with groups of our own. */
export function ociEnforcement(cgroups: CgroupDriver | undefined): EnforcementTable {
  return {
    ...jailEnforcement(cgroups),
    ...(cgroups ? { memory: kernel(cgroups.describe) } : {}),
    filesystem: kernel('mount namespace: the image, the bundle and granted paths; the root is read-only'),
    syscalls: kernel('seccomp profile of the runtime, from the policy of the jail'),
    timeout: { by: 'watchdog', how: 'SIGKILL of the first process at the deadline' },
  };
}

/** Of an engine that makes the groups itself; `limits` is false where it takes limits and ignores them. */
export function engineEnforcement(
  cgroup: string,
  limits: { memory: boolean; pids: boolean },
): EnforcementTable {
  const ignored = `a rootless engine on ${cgroup} takes the limit and ignores it; use cgroup v2 with delegation, or run Skillcell as root`;
  return {
    ...ociEnforcement(undefined),
    memory: limits.memory ? kernel(`${cgroup} of the engine`) : nobody(ignored),
    processes: limits.pids ? kernel(`seccomp, pids of ${cgroup}`) : nobody(ignored),
    'memory.processes': limits.memory ? kernel(`${cgroup} of the engine`) : nobody(ignored),
    cpu: kernel('RLIMIT_CPU'),
    'cpu.processes': limits.memory
      ? { by: 'watchdog', how: 'CPU time of the container, SIGKILL beyond' }
      : nobody(ignored),
  };
}

/** Of gVisor, whose own kernel stands between the skill and that of the host. */
export function gvisorEnforcement(cgroups: CgroupDriver | undefined): EnforcementTable {
  return {
    ...ociEnforcement(cgroups),
    processes: nobody(
      'gVisor does not count processes; leave processes out, or use crun, runc, podman or docker',
    ),
  };
}
