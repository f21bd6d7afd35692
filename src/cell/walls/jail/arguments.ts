/**
 * The bubblewrap command line. It is passed through a pipe (`--args FD`), so that no host path is visible in /proc.
 *
 * @module
 */
import { BASE_ENV } from '../../native-env.ts';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { LARGEST_FILE_BYTES, type Grant } from '../../../policy/grant.ts';
import type { LaunchSpec } from '../../contract.ts';

/** uid and gid as the skill sees them. */
const GUEST_ID = '65534';
const SHM_BYTES = 8 * 1024 * 1024;
/** Threads that a skill may have if it may not start processes; the kernel counts each as a process. */
export const THREAD_ALLOWANCE = 32;
const OPEN_FILES = 128;
/** Pending signals and timers. The kernel also counts them per host user, over all programs. */
export const PENDING_SIGNALS = 256;

/** To create namespaces, and to drop the capabilities again. */
const NAMESPACE_RIGHTS = ['CAP_SYS_ADMIN', 'CAP_SETPCAP'];
/** To bring up the loopback of a new network namespace for the gateway. */
const LOOPBACK_RIGHT = 'CAP_NET_ADMIN';

/** World-readable files of /proc about the whole machine that no program needs. Others are readable only by root. */
// oxfmt-ignore
const MASKED = [
  'cmdline', 'config.gz', 'diskstats', 'interrupts', 'kallsyms', 'key-users', 'keys', 'locks', 'modules', 'partitions',
  'sched_debug', 'swaps',
].map((name) => `/proc/${name}`);

export interface JailLayout {
  /** Arguments for /bin, /lib and so on, which are symlinks into /usr or folders on this host. */
  system: string[];
  /** Files of /proc that no cell can read. */
  masked: string[];
}

export function readLayout(): JailLayout {
  return {
    system: ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => systemFolder(`/${name}`)),
    masked: MASKED.filter((path) => existsSync(path)),
  };
}

function systemFolder(path: string): string[] {
  try {
    return lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path];
  } catch {
    return [];
  }
}

export interface JailArguments {
  spec: LaunchSpec;
  grant: Grant;
  layout: JailLayout;
  infoFd: number;
  seccompFd: number | undefined;
}

/** The arguments after `bwrap`, in order: later mounts cover earlier ones. */
export function jailArguments({ spec, grant, layout, infoFd, seccompFd }: JailArguments): string[] {
  return [
    ...namespaces(spec),
    ...environment(spec, grant),
    ...['--ro-bind', '/usr', '/usr', '--tmpfs', '/usr/local', ...layout.system],
    ...[
      '--proc',
      '/proc',
      ...masks(spec, layout),
      '--dev',
      '/dev',
      '--size',
      String(SHM_BYTES),
      '--tmpfs',
      '/dev/shm',
    ],
    ...['--size', String(grant.limits.scratch), '--perms', '1777', '--tmpfs', '/tmp'],
    ...spec.mounts.flatMap((mount) => [mount.writable ? '--bind' : '--ro-bind', mount.host, mount.guest]),
    ...grant.filesystem.flatMap((path) => [
      path.access === 'read-write' ? '--bind' : '--ro-bind',
      path.host,
      path.guest,
    ]),
    ...['--remount-ro', '/usr/local', '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', spec.cwd],
    ...['--info-fd', String(infoFd)],
    ...(seccompFd === undefined ? [] : ['--seccomp', String(seccompFd)]),
  ];
}

/** Forks of a zygote mount and mask their own /proc, which the kernel would refuse if this one were masked. */
function masks({ keepNamespaceRights = false }: LaunchSpec, { masked }: JailLayout): string[] {
  return keepNamespaceRights ? [] : masked.flatMap((path) => ['--ro-bind', '/dev/null', path]);
}

function namespaces(spec: LaunchSpec): string[] {
  const rights = spec.gateway ? [...NAMESPACE_RIGHTS, LOOPBACK_RIGHT] : NAMESPACE_RIGHTS;
  return [
    ...[
      '--unshare-user',
      '--unshare-all',
      '--disable-userns',
      '--as-pid-1',
      '--die-with-parent',
      '--new-session',
    ],
    ...['--uid', GUEST_ID, '--gid', GUEST_ID, '--hostname', 'cell', '--cap-drop', 'ALL'],
    ...(spec.keepNamespaceRights ? rights.flatMap((right) => ['--cap-add', right]) : []),
  ];
}

function environment(spec: LaunchSpec, grant: Grant): string[] {
  const variables = { ...BASE_ENV, ...spec.env, ...grant.env };
  return ['--clearenv', ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])];
}

/** Without a cgroup this bounds memory that several processes could share, and page tables. */
function addressSpace({ codeBytes }: LaunchSpec, { limits }: Grant, isGrouped: boolean): string[] {
  if (isGrouped || codeBytes === undefined) return [];
  const bytes = limits.memory + codeBytes;
  return [`--as=${bytes}:${bytes}`];
}

/** The program with its rlimits, set inside the jail, where RLIMIT_NPROC counts only this user namespace. */
export function limitedProgram(
  spec: LaunchSpec,
  grant: Grant,
  { isGrouped }: { isGrouped: boolean },
): string[] {
  const { limits } = grant;
  const cpuSeconds = Math.max(1, Math.ceil(limits.cpu / 1000));
  const writesOutside = grant.filesystem.some((path) => path.access === 'read-write');
  const data = limits.memory + (spec.reservedBytes ?? 0);
  const processes = limits.processes > 0 ? limits.processes + (spec.reservedThreads ?? 0) : THREAD_ALLOWANCE;
  return [
    '/usr/bin/prlimit',
    `--nproc=${processes}:${processes}`,
    `--data=${data}:${data}`,
    ...addressSpace(spec, grant, isGrouped),
    // Pid 1 of a namespace ignores SIGXCPU, so the hard limit's SIGKILL must come immediately.
    `--cpu=${cpuSeconds}:${cpuSeconds}`,
    `--nofile=${OPEN_FILES}:${OPEN_FILES}`,
    // Not 0, because the kernel still pipes core dumps to a handler program then; 1 prevents that.
    '--core=1:1',
    `--fsize=${writesOutside ? LARGEST_FILE_BYTES : limits.scratch}`,
    '--memlock=65536:65536',
    '--msgqueue=0:0',
    `--sigpending=${PENDING_SIGNALS}:${PENDING_SIGNALS}`,
    ...spec.argv,
  ];
}
