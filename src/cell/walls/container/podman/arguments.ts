/**
 * The podman command line of one cell. Private values go into files, because other users can see command lines.
 *
 * @module
 */
import type { Mount } from '../../../contract.ts';
import { GUEST_HOST_NAME, LABEL, PROCESSES_OF_USER, SHM_BYTES, type Sandbox } from '../sandbox.ts';

export const LABEL_ARGUMENT: string = `${LABEL.name}=${LABEL.value}`;

export interface PodmanArguments {
  name: string;
  sandbox: Sandbox;
  /** Unpacked files of the image; podman adds a scratch layer that is discarded with the container. */
  rootfs: string;
  user: { uid: number; gid: number };
  isRootless: boolean;
  /** False if the engine would only warn about cgroup limits. */
  limitsGroups: boolean;
  isStdio: boolean;
  files: { pid: string; seccomp: string; env: string };
}

/** The arguments after `podman` and its global options. */
export function podmanArguments(options: PodmanArguments): string[] {
  const { name, sandbox, rootfs, files, isStdio } = options;
  return [
    ...['run', '--rm', '--name', name, '--label', LABEL_ARGUMENT, '--pidfile', files.pid],
    ...(isStdio ? ['--interactive'] : []),
    ...['--network', 'none', '--no-hosts', '--hostname', GUEST_HOST_NAME, '--log-driver', 'none'],
    ...['--read-only', '--read-only-tmpfs=false', '--cap-drop', 'all', '--ipc', 'private'],
    ...['--security-opt', 'no-new-privileges', '--security-opt', `seccomp=${files.seccomp}`],
    ...['--security-opt', 'mask=/sys'],
    ...user(options),
    ...limits(options),
    ...['--env-file', files.env, '--unsetenv', 'TERM', '--workdir', sandbox.cwd],
    ...manyLines(sandbox.env),
    ...sandbox.binds.flatMap((mount) => ['--mount', mountField(mount)]),
    ...['--rootfs', `${rootfs}:O`, ...sandbox.argv],
  ];
}

/** For `--env-file`, which has one variable per line. */
export function envFile(env: Record<string, string>): string {
  const lines = Object.entries(env).filter(([, value]) => !value.includes('\n'));
  return lines.map(([name, value]) => `${name}=${value}\n`).join('');
}

function manyLines(env: Record<string, string>): string[] {
  const rest = Object.entries(env).filter(([, value]) => value.includes('\n'));
  return rest.flatMap(([name, value]) => ['--env', `${name}=${value}`]);
}

function user({ user: { uid, gid }, isRootless }: PodmanArguments): string[] {
  const own = ['--user', `${uid}:${gid}`];
  // Inside it is that user; to the host kernel it is the user who runs Skillcell and owns the granted files.
  return isRootless ? [...own, '--userns', `keep-id:uid=${uid},gid=${gid}`] : own;
}

function limits({ sandbox, limitsGroups }: PodmanArguments): string[] {
  const { memoryBytes, pids, scratchBytes, rlimits } = sandbox;
  const groups = [
    '--memory',
    `${memoryBytes}b`,
    '--memory-swap',
    `${memoryBytes}b`,
    '--pids-limit',
    String(pids),
  ];
  const each = Object.entries({ ...rlimits, nproc: PROCESSES_OF_USER });
  return [
    ...(limitsGroups ? groups : []),
    ...each.flatMap(([name, value]) => ['--ulimit', `${name}=${value}:${value}`]),
    ...[
      '--shm-size',
      `${SHM_BYTES}b`,
      '--tmpfs',
      `/tmp:size=${scratchBytes},mode=1777,nosuid,nodev,notmpcopyup`,
    ],
  ];
}

/** The value of `--mount`, which podman parses as CSV. */
function mountField({ host, guest, writable }: Mount): string {
  const access = writable ? [] : ['ro=true'];
  const parts = ['type=bind', `source=${host}`, `destination=${guest}`, 'nosuid', 'nodev', ...access];
  return parts.map((part) => (/[",\n]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part)).join(',');
}
