/**
 * The configuration that an OCI runtime reads: one container, as closed as it goes.
 *
 * @module
 */
import type { Mount } from '../../contract.ts';
import { gvisorProfile } from '../seccomp-profile.ts';
import { GUEST_HOST_NAME, HIDDEN_PATHS, READ_ONLY_PATHS, SHM_BYTES, type Sandbox } from '../sandbox.ts';

/** In the range that Debian reserves and gives to nobody. */
const UNUSED_ID = 65_431;

interface UserIds {
  uid: number;
  gid: number;
}

export interface OciConfigOptions {
  sandbox: Sandbox;
  /** Folder with a mount point for everything. */
  root: string;
  /** Of the image, read-only. */
  image: readonly Mount[];
  /** As whom the skill sees itself. */
  inside: UserIds;
  /** What the kernel knows it by. */
  outside: UserIds;
  /**
   * For a runtime that wants a root inside: the group that may pass through the folders of Skillcell. It sets up the mounts
   * as what uid 0 inside is outside, which is nobody, but has to reach them. Absent: the user of the cell is the only one.
   */
  setUpGroup: number | undefined;
  /** Groups that the first process joins before it becomes the program. */
  cgroups: readonly string[];
  /** The runtime is gVisor, which takes other words. */
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
  // In a user namespace of its own the kernel counts the processes of this cell alone.
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
  // No number can stand for two; inside of its mounts the skill needs no group to pass.
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
  // crun heeds the plain words for what is read-only alone; gVisor knows no others.
  const recursive = isGvisor ? [] : ['rnosuid', 'rnodev'];
  const access = writable ? ['rw', ...recursive] : ['ro'];
  const options = ['rbind', ...access, 'nosuid', 'nodev', 'rprivate'];
  return { destination: guest, type: 'bind', source: host, options };
}

/** Run by the runtime on the host, after it made the first process and before that becomes the program. */
const JOIN_GROUPS = `
while IFS= read -r line || [ -n "$line" ]; do state="$state$line"; done
pid="\${state#*\\"pid\\":}"; pid="\${pid# }"; pid="\${pid%%[!0-9]*}"
for group; do echo "$pid" > "$group/cgroup.procs" || exit 1; done
`;

function joinGroups(groups: readonly string[]): object {
  return { path: '/bin/sh', args: ['sh', '-c', JOIN_GROUPS, 'sh', ...groups] };
}
