/**
 * The container configuration of one cell for docker.
 *
 * @module
 */
import {
  GUEST_HOST_NAME,
  HIDDEN_PATHS,
  LABEL,
  PROCESSES_OF_USER,
  READ_ONLY_PATHS,
  SHM_BYTES,
  type Sandbox,
} from '../sandbox.ts';

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
    Labels: { [LABEL.name]: LABEL.value },
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
    MaskedPaths: ['/sys', ...HIDDEN_PATHS],
    ReadonlyPaths: READ_ONLY_PATHS,
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
