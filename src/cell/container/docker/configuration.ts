/**
 * What docker is told about one cell.
 *
 * @module
 */
import { GUEST_HOST_NAME, SHM_BYTES, type Sandbox } from '../sandbox.ts';

/** Tells our containers from others. */
export const LABEL = 'skillcell=cell';
/** Counted over all cells of a user here, so it can only be a last resort; the group counts those of the cell. */
const PROCESSES_OF_USER = 4096;

/** Beside those of docker: a cell learns nothing about the machine. */
const MASKED = [
  '/sys',
  '/proc/asound',
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
];
const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

export interface DockerOptions {
  sandbox: Sandbox;
  image: string;
  user: { uid: number; gid: number };
  isStdio: boolean;
}

export function dockerContainer({ sandbox, image, user, isStdio }: DockerOptions): object {
  const [program, ...args] = sandbox.argv;
  return {
    Image: image,
    Entrypoint: [program],
    Cmd: args,
    Env: Object.entries(sandbox.env).map(([name, value]) => `${name}=${value}`),
    WorkingDir: sandbox.cwd,
    User: `${user.uid}:${user.gid}`,
    Hostname: GUEST_HOST_NAME,
    Labels: { skillcell: 'cell' },
    NetworkDisabled: true,
    Tty: false,
    AttachStdin: isStdio,
    OpenStdin: isStdio,
    StdinOnce: isStdio,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: hostConfig(sandbox),
  };
}

function hostConfig(sandbox: Sandbox): object {
  const limits = Object.entries({ ...sandbox.rlimits, nproc: PROCESSES_OF_USER });
  return {
    NetworkMode: 'none',
    IpcMode: 'private',
    CgroupnsMode: 'private',
    Privileged: false,
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges', `seccomp=${JSON.stringify(sandbox.seccomp)}`],
    MaskedPaths: MASKED,
    ReadonlyPaths: READ_ONLY,
    Memory: sandbox.memoryBytes,
    MemorySwap: sandbox.memoryBytes,
    PidsLimit: sandbox.pids,
    Ulimits: limits.map(([Name, value]) => ({ Name, Soft: value, Hard: value })),
    ShmSize: SHM_BYTES,
    Tmpfs: { '/tmp': `size=${sandbox.scratchBytes},mode=1777,nosuid,nodev` },
    LogConfig: { Type: 'none' },
    Mounts: sandbox.binds.map(({ host, guest, writable }) => ({
      Type: 'bind',
      Source: host,
      Target: guest,
      ReadOnly: !writable,
      BindOptions: { Propagation: 'rprivate' },
    })),
  };
}
