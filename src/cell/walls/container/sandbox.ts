/**
 * Describes a container cell as plain data, for any backend, from the engine's launch spec and the grant. Only the
 * program, its variables and its files come from the image.
 *
 * @module
 */
import { LARGEST_FILE_BYTES, hasGateway, type Grant } from '../../../policy/grant.ts';
import type { LaunchSpec, Mount } from '../../contract.ts';
import { BASE_ENV } from '../../native-env.ts';
import { PENDING_SIGNALS, THREAD_ALLOWANCE } from '../jail/arguments.ts';
import { seccompArch, seccompRules, SOCKET_FAMILIES } from '../../linux/seccomp/policy.ts';
import { seccompProfile, type SeccompProfile } from './seccomp-profile.ts';

export const GUEST_HOST_NAME = 'cell';
/** Distinguishes our containers from others of the same engine. */
export const LABEL = { name: 'skillcell', value: 'cell' } as const;
/** A last resort, because the kernel counts it over all cells of a user; the cgroup limits each cell. */
export const PROCESSES_OF_USER = 4096;
/** Reveal details of the machine that no skill needs. */
export const HIDDEN_PATHS: readonly string[] = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
];
export const READ_ONLY_PATHS: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
];
export const SHM_BYTES: number = 8 * 1024 * 1024;
const OPEN_FILES = 128;
const LOCKED_BYTES = 65_536;

/** Names of rlimits. */
export type RlimitName =
  | 'nofile'
  | 'core'
  | 'fsize'
  | 'data'
  | 'cpu'
  | 'memlock'
  | 'msgqueue'
  | 'nproc'
  | 'sigpending';

export interface Sandbox {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /** The bundle and the engine's files, then the granted paths; later mounts cover earlier ones. */
  binds: Required<Mount>[];
  scratchBytes: number;
  memoryBytes: number;
  /** Processes and threads together, as the kernel counts them. */
  pids: number;
  rlimits: Partial<Record<RlimitName, number>>;
  seccomp: SeccompProfile;
}

export interface SandboxOptions {
  spec: LaunchSpec;
  grant: Grant;
  /** False if no cgroup limits the memory of the cell: then each process is limited, and unowned memory is refused. */
  isGrouped: boolean;
}

export function sandboxFor({ spec, grant, isGrouped }: SandboxOptions): Sandbox {
  const { limits } = grant;
  return {
    argv: spec.argv,
    env: { ...BASE_ENV, ...spec.env, ...grant.env },
    cwd: spec.cwd,
    binds: [
      ...spec.mounts.map((mount) => ({ writable: false, ...mount })),
      ...grant.filesystem.map(({ host, guest, access }) => ({
        host,
        guest,
        writable: access === 'read-write',
      })),
    ],
    scratchBytes: limits.scratch,
    memoryBytes: limits.memory,
    pids: limits.processes > 0 ? limits.processes + (spec.reservedThreads ?? 0) : THREAD_ALLOWANCE,
    // Not with a cgroup: a runtime written in Go needs more memory than a small skill before it executes the program.
    rlimits: { ...rlimits(grant), ...(isGrouped ? {} : { data: limits.memory + (spec.reservedBytes ?? 0) }) },
    seccomp: profileFor(grant, { isGrouped, confinesItself: spec.confinesItself === true }),
  };
}

function rlimits({ limits, filesystem }: Grant): Sandbox['rlimits'] {
  const writesOutside = filesystem.some((path) => path.access === 'read-write');
  return {
    nofile: OPEN_FILES,
    // As in a jail: 0 does not stop the kernel from piping core dumps to a program.
    core: 1,
    fsize: writesOutside ? LARGEST_FILE_BYTES : limits.scratch,
    cpu: Math.max(1, Math.ceil(limits.cpu / 1000)),
    memlock: LOCKED_BYTES,
    msgqueue: 0,
    sigpending: PENDING_SIGNALS,
  };
}

interface ProfileOptions {
  isGrouped: boolean;
  confinesItself: boolean;
}

/** Throws `manifest_invalid` for a bad `deny` list. */
export function profileFor(
  grant: Grant,
  { isGrouped, confinesItself }: ProfileOptions = { isGrouped: true, confinesItself: false },
): SeccompProfile {
  // The cell's proxy listens on loopback, the only interface of its network namespace. Unix sockets are always allowed:
  // without inherited descriptors a harness fetches its streams from a socket.
  const { unix, ...internet } = SOCKET_FAMILIES;
  const families = [unix, ...(hasGateway(grant) ? Object.values(internet) : [])];
  const rules = seccompRules({
    syscalls: grant.syscalls,
    allowProcesses: grant.limits.processes > 0 || confinesItself,
    families,
    isGrouped,
  });
  return seccompProfile(rules, seccompArch());
}
