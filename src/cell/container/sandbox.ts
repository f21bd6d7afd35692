/**
 * What every container cell is, whichever engine starts it: pure data, from what an engine wants to have run and what the
 * grant allows. Nothing of it comes from the image but the program, its variables and its files.
 *
 * @module
 */
import { LARGEST_FILE_BYTES, hasGateway, type Grant } from '../../policy/grant.ts';
import type { LaunchSpec, Mount } from '../contract.ts';
import { BASE_ENV, PENDING_SIGNALS, THREAD_ALLOWANCE } from '../jail/arguments.ts';
import { seccompArch, seccompRules, SOCKET_FAMILIES } from '../jail/seccomp/policy.ts';
import { seccompProfile, type SeccompProfile } from './seccomp-profile.ts';

export const GUEST_HOST_NAME = 'cell';
/** Tells our containers from others of the same engine. */
export const LABEL = { name: 'skillcell', value: 'cell' } as const;
/** Counted over all cells of a user by engines, so it can only be a last resort; the group counts those of the cell. */
export const PROCESSES_OF_USER = 4096;
/** Tell about the machine, and nothing that a skill needs. */
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

/** Limits of a process, by the name of its resource. */
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
  /** The bundle and what belongs to the engine, then the granted paths: later ones lie on top. */
  binds: Required<Mount>[];
  scratchBytes: number;
  memoryBytes: number;
  /** Processes and threads together, as the kernel counts. */
  pids: number;
  rlimits: Partial<Record<RlimitName, number>>;
  seccomp: SeccompProfile;
}

export interface SandboxOptions {
  spec: LaunchSpec;
  grant: Grant;
  /** False where no group counts the memory of the cell: each process is limited then, and what has no owner is refused. */
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
    // Not beside a group: a runtime in Go needs more than a small skill before it has become the program.
    rlimits: { ...rlimits(grant), ...(isGrouped ? {} : { data: limits.memory + (spec.reservedBytes ?? 0) }) },
    seccomp: profileFor(grant, { isGrouped }),
  };
}

function rlimits({ limits, filesystem }: Grant): Sandbox['rlimits'] {
  const writesOutside = filesystem.some((path) => path.access === 'read-write');
  return {
    nofile: OPEN_FILES,
    // As in a jail: 0 does not stop a program that the kernel hands core dumps to.
    core: 1,
    fsize: writesOutside ? LARGEST_FILE_BYTES : limits.scratch,
    cpu: Math.max(1, Math.ceil(limits.cpu / 1000)),
    memlock: LOCKED_BYTES,
    msgqueue: 0,
    sigpending: PENDING_SIGNALS,
  };
}

/** Throws `manifest_invalid` for a bad `deny` list. */
export function profileFor(
  grant: Grant,
  { isGrouped }: Pick<SandboxOptions, 'isGrouped'> = { isGrouped: true },
): SeccompProfile {
  // The proxy of a cell listens on its loopback, which is all that its network namespace has. The unix family is always
  // there: a harness behind an engine that hands down no descriptors fetches its streams from a socket.
  const { unix, ...internet } = SOCKET_FAMILIES;
  const families = [unix, ...(hasGateway(grant) ? Object.values(internet) : [])];
  const rules = seccompRules({
    syscalls: grant.syscalls,
    allowProcesses: grant.limits.processes > 0,
    families,
    isGrouped,
  });
  return seccompProfile(rules, seccompArch());
}
