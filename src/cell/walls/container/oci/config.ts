/**
 * The OCI runtime configuration of one container, as restrictive as possible.
 *
 * @module
 */
import type { Mount } from '../../../contract.ts';
import { gvisorProfile } from '../seccomp-profile.ts';
import { GUEST_HOST_NAME, HIDDEN_PATHS, READ_ONLY_PATHS, SHM_BYTES, type Sandbox } from '../sandbox.ts';

/** In the id range that Debian reserves and never assigns. */
const UNUSED_ID = 65_431;

interface UserIds {
  uid: number;
  gid: number;
}

export interface OciConfigOptions {
  sandbox: Sandbox;
  /** Folder with all mount points. */
  root: string;
  /** Mounts of the image, read-only. */
  image: readonly Mount[];
  /** Ids as seen by the skill. */
  inside: UserIds;
  /** Ids as seen by the host kernel. */
  outside: UserIds;
  /**
   * For a runtime that needs a root user inside: the group that may traverse Skillcell's folders. The runtime sets up the
   * mounts as uid 0 inside, which maps to an unused id outside and reaches the folders only by this group. Undefined:
   * only the user of the cell is mapped.
   */
  setUpGroup: number | undefined;
  /** Cgroups that the first process joins before it executes the program. */
  cgroups: readonly string[];
  /** The runtime is gVisor, which needs different mount options and seccomp actions. */
  isGvisor: boolean;
}

export function ociConfig(options: OciConfigOptions): Record<string, unknown> {
  const { sandbox, root, inside } = options;
  return {
    ociVersion: '1.0.2',
    hostname: GUEST_HOST_NAME,
    root: { path: root, readonly: true },
    process: {
      terminal: false,
      user: inside,
      args: sandbox.argv,
      env: Object.entries(sandbox.env).map(([name, value]) => `${name}=${value}`),
      cwd: sandbox.cwd,
      noNewPrivileges: true,
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
      rlimits: rlimits(sandbox),
    },
    mounts: mounts(options),
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount', 'user'].map((type) => ({ type })),
      ...mappings(options),
      maskedPaths: HIDDEN_PATHS,
      readonlyPaths: READ_ONLY_PATHS,
      seccomp: options.isGvisor ? gvisorProfile(sandbox.seccomp) : sandbox.seccomp,
    },
    ...(options.cgroups.length > 0 ? { hooks: { createRuntime: [joinGroups(options.cgroups)] } } : {}),
  };
}

function rlimits({ rlimits: limits, pids }: Sandbox): { type: string; soft: number; hard: number }[] {
  // The cell has its own user namespace, so the kernel counts only its processes.
  return Object.entries({ ...limits, nproc: pids }).map(([name, value]) => ({
    type: `RLIMIT_${name.toUpperCase()}`,
    soft: value,
    hard: value,
  }));
}

function mappings({ inside, outside, setUpGroup }: OciConfigOptions): Record<string, object[]> {
  const one = (containerID: number, hostID: number): object => ({ containerID, hostID, size: 1 });
  if (setUpGroup === undefined)
    return { uidMappings: [one(inside.uid, outside.uid)], gidMappings: [one(inside.gid, outside.gid)] };
  // An id can be mapped only once; the skill needs no group to use its mounts.
  const gid = outside.gid === setUpGroup ? UNUSED_ID : outside.gid;
  return {
    uidMappings: [one(0, UNUSED_ID), one(inside.uid, outside.uid)],
    gidMappings: [one(0, setUpGroup), one(inside.gid, gid)],
  };
}

function mounts({ sandbox, image, isGvisor }: OciConfigOptions): object[] {
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
    tmpfs('/dev', ['nosuid', 'noexec', 'mode=755', 'size=64k', 'ro']),
    {
      destination: '/dev/pts',
      type: 'devpts',
      source: 'devpts',
      options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'],
    },
    tmpfs('/dev/shm', ['nosuid', 'nodev', 'mode=1777', `size=${SHM_BYTES}`]),
    tmpfs('/tmp', ['nosuid', 'nodev', 'mode=1777', `size=${sandbox.scratchBytes}`]),
    ...[...image, ...sandbox.binds].map((mount) => bind(mount, isGvisor)),
  ];
}

function tmpfs(destination: string, options: string[]): object {
  return { destination, type: 'tmpfs', source: 'tmpfs', options };
}

function bind({ host, guest, writable = false }: Mount, isGvisor: boolean): object {
  // crun applies the plain options only to read-only mounts; gVisor does not know the recursive ones.
  const recursive = isGvisor ? [] : ['rnosuid', 'rnodev'];
  const access = writable ? ['rw', ...recursive] : ['ro'];
  const options = ['rbind', ...access, 'nosuid', 'nodev', 'rprivate'];
  return { destination: guest, type: 'bind', source: host, options };
}

/** The runtime runs this on the host after creating the first process, before that executes the program. */
const JOIN_GROUPS = `
while IFS= read -r line || [ -n "$line" ]; do state="$state$line"; done
pid="\${state#*\\"pid\\":}"; pid="\${pid# }"; pid="\${pid%%[!0-9]*}"
for group; do echo "$pid" > "$group/cgroup.procs" || exit 1; done
`;

function joinGroups(groups: readonly string[]): object {
  return { path: '/bin/sh', args: ['sh', '-c', JOIN_GROUPS, 'sh', ...groups] };
}
