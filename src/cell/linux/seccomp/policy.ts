/**
 * The seccomp policy of a cell: from the manifest's `syscalls` rule to a filter. Rules are plain data, so that the same
 * policy can also be written as an OCI profile.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { SyscallRule } from '../../../manifest/manifest.ts';
import { assemble } from './assembler.ts';
import type { Action, ArgumentTest, FilterRule } from './assembler.ts';
import { DENIED_ALWAYS, DENIED_STRICT } from './deny-list.ts';
import { checkedNames } from './names.ts';
import { isSeccompArch } from './syscalls.ts';
import type { SeccompArch, SyscallName } from './syscalls.ts';
import { UNMAPPED_MEMORY_RULES } from './unseen-memory.ts';

export interface SeccompOptions {
  syscalls: SyscallRule;
  /** False: threads work, but fork, vfork and clone of a process fail. */
  allowProcesses: boolean;
  /** Socket families that the cell may open. Default: none; connected pairs of stream sockets are always allowed. */
  families?: readonly number[];
  /** False: no cgroup counts the memory of the cell, so calls that create unmapped memory are refused. Default: true. */
  isGrouped?: boolean;
}

/** The `AF_*` numbers that a cell may be granted. */
export const SOCKET_FAMILIES = { unix: 1, inet: 2, inet6: 10 } as const;

const EPERM: Action = { errno: 1 };
const ENOSYS: Action = { errno: 38 };
const EAFNOSUPPORT: Action = { errno: 97 };

const RLIMIT_CORE = 4;
const PR_SET_PDEATHSIG = 1;
const CLONE_THREAD = 0x00010000;
const CLONE_FILES = 0x00000400;
const CLOSE_RANGE_UNSHARE = 2;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET; NEWTIME exists only in clone3 and unshare. */
const CLONE_NEW_NAMESPACES = 0x7e020000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/**
 * Leases block host programs that open the file, notifications reveal activity in a folder, hints change the inode behind
 * a read-only mount, and large pipes use up the user's total pipe budget.
 */
const DENIED_FCNTL = {
  F_SETLEASE: 1024,
  F_NOTIFY: 1026,
  F_SETPIPE_SZ: 1031,
  F_SET_RW_HINT: 1036,
  F_SET_FILE_RW_HINT: 1038,
} as const;
/** Set in SOCK_DGRAM and SOCK_RAW, but not in SOCK_STREAM and SOCK_SEQPACKET. */
const DATAGRAM_BIT = 2;
const UNUSED_WITHOUT_SOCKETS = ['bind', 'connect', 'listen'] as const;
const SET_ID_BITS = 0o6000;
/** O_CREAT and O_TMPFILE: without them the kernel ignores the mode of an open. */
const CREATING = 0x400040;
/** Calls that set the mode of a file, with the argument index of the mode. */
const MODE_ARGUMENTS = [
  ['chmod', 1],
  ['fchmod', 1],
  ['fchmodat', 2],
  ['fchmodat2', 2],
  ['creat', 1],
] as const;
/** The same for calls that set a mode only when they create a file, with the argument index of the flags. */
const OPENING_ARGUMENTS = [
  ['open', { mode: 2, flags: 1 }],
  ['openat', { mode: 3, flags: 2 }],
] as const;
/** Plain Linux, and the value that only queries the current one. */
const HARMLESS_PERSONALITIES = [0, 0xffffffff];

/** The architecture of the filters. Throws `skill_unavailable` if we have no table of its system calls. */
export function seccompArch(arch: string = process.arch): SeccompArch {
  if (isSeccompArch(arch)) return arch;
  throw new SkillError('skill_unavailable', `There is no seccomp filter for the architecture "${arch}".`, {
    fix: 'Run on x64 or arm64, or use the execution mode "wasm".',
    detail: { arch },
  });
}

/** The rules for one cell, in order of precedence. Throws `manifest_invalid` for an invalid `deny` list. */
export function seccompRules(options: SeccompOptions): FilterRule[] {
  return [
    ...deniedNames(options.syscalls).map((syscall) => ({ syscall, action: EPERM })),
    ...argumentRules(),
    ...setIdRules(),
    ...processRules(options.allowProcesses),
    ...familyRules(options.families ?? []),
    ...((options.isGrouped ?? true) ? [] : UNMAPPED_MEMORY_RULES),
  ];
}

/** The filter for `bwrap --seccomp`. execve stays allowed: bwrap and prlimit still have to exec. */
export function seccompFilter(options: SeccompOptions & { arch: SeccompArch }): Buffer {
  // A call newer than our table fails as on an older kernel, so that programs fall back.
  return assemble({ arch: options.arch, rules: seccompRules(options), beyondTable: ENOSYS });
}

export interface LockdownOptions {
  arch: SeccompArch;
  /** Whether the skill may start programs, and whether it may open sockets. */
  exec: boolean;
  sockets: boolean;
}

/**
 * A second, tiny filter that a harness installs on itself with prctl once it needs no more exec, its limits are set and its
 * streams are open. The core dump limit must not be lowered, because 0 allows what 1 forbids.
 */
export function lockdownFilter({ arch, ...options }: LockdownOptions): Buffer {
  return assemble({ arch, rules: lockdownRules(options) });
}

function lockdownRules({ exec, sockets }: Omit<LockdownOptions, 'arch'>): FilterRule[] {
  return [
    { syscall: 'setrlimit', when: { argument: 0, op: 'eq', value: RLIMIT_CORE }, action: EPERM },
    { syscall: 'prlimit64', when: { argument: 1, op: 'eq', value: RLIMIT_CORE }, action: EPERM },
    ...(exec ? [] : (['execve', 'execveat'] as const).map((syscall) => ({ syscall, action: EPERM }))),
    ...(sockets ? [] : familyRules([])),
  ];
}

/** A zygote calls these for its forks, so their rules cannot be in its own filter. */
const CALLS_OF_A_ZYGOTE: ReadonlySet<SyscallName> = new Set([
  ...(['mount', 'clone', 'clone3', 'fork', 'vfork'] as const),
  // For the network namespaces that its forks leave empty.
  ...(['setns', 'unshare'] as const),
]);

export interface ForkFilters {
  /** Installed once, by the zygote on itself; every fork inherits it. */
  zygote: Buffer;
  /** What each fork adds: the rest, and the lockdown. The kernel asks both, and the stricter answer counts. */
  fork: Buffer;
}

/** The filter of a cell and its lockdown in two parts, because the kernel takes long to install the large one. */
export function forkFilters(options: SeccompOptions & { arch: SeccompArch }): ForkFilters {
  const { arch, syscalls, allowProcesses, families = [] } = options;
  const rules = seccompRules(options);
  // A manifest may deny any call, even one without which a zygote cannot fork.
  const chosen = typeof syscalls === 'string' ? [] : syscalls.deny;
  const isLate = ({ syscall }: FilterRule): boolean =>
    CALLS_OF_A_ZYGOTE.has(syscall) || chosen.includes(syscall);
  const lockdown = lockdownRules({ exec: allowProcesses, sockets: families.length > 0 });
  return {
    zygote: assemble({ arch, rules: rules.filter((rule) => !isLate(rule)), beyondTable: ENOSYS }),
    // As between two filters, where both have an answer the lockdown's counts.
    fork: assemble({ arch, rules: [...lockdown, ...rules.filter(isLate)] }),
  };
}

/** For a program that may start no process, installed by a launcher that has just started one itself. */
export function noProcessFilter(arch: SeccompArch): Buffer {
  return assemble({ arch, rules: processRules(false) });
}

function deniedNames(rule: SyscallRule): SyscallName[] {
  if (rule === 'default') return [...DENIED_ALWAYS];
  if (rule === 'strict') return [...DENIED_ALWAYS, ...DENIED_STRICT];
  return [...new Set([...DENIED_ALWAYS, ...checkedNames(rule.deny)])];
}

function argumentRules(): FilterRule[] {
  return [
    // Its flags are behind a pointer, which a filter cannot read. glibc falls back to clone.
    { syscall: 'clone3', action: ENOSYS },
    { syscall: 'clone', when: { argument: 0, op: 'any-bit', mask: CLONE_NEW_NAMESPACES }, action: EPERM },
    // A process that clears it would survive when the host is killed.
    { syscall: 'prctl', when: { argument: 0, op: 'eq', value: PR_SET_PDEATHSIG }, action: EPERM },
    // Both put characters into the terminal's input, as if its owner had typed them.
    { syscall: 'ioctl', when: { argument: 1, op: 'eq', value: TIOCSTI }, action: EPERM },
    { syscall: 'ioctl', when: { argument: 1, op: 'eq', value: TIOCLINUX }, action: EPERM },
    ...Object.values(DENIED_FCNTL).map((value) => ({
      syscall: 'fcntl' as const,
      when: { argument: 1, op: 'eq', value } as const,
      action: EPERM,
    })),
    {
      syscall: 'personality',
      when: { argument: 0, op: 'not-in', values: HARMLESS_PERSONALITIES },
      action: EPERM,
    },
  ];
}

/**
 * A set-id program left in a granted folder would give anyone who runs it on the host the rights of the cell's user. Mount
 * options of the cell cannot prevent that.
 */
function setIdRules(): FilterRule[] {
  const sets = (argument: number): ArgumentTest => ({ argument, op: 'any-bit', mask: SET_ID_BITS });
  return [
    ...MODE_ARGUMENTS.map(([syscall, mode]) => ({ syscall, when: sets(mode), action: EPERM })),
    ...OPENING_ARGUMENTS.map(([syscall, { mode, flags }]) => ({
      syscall,
      when: sets(mode),
      and: { argument: flags, op: 'any-bit', mask: CREATING } as const,
      action: EPERM,
    })),
    // Its mode is behind a pointer. Programs fall back to openat, as on an older kernel.
    { syscall: 'openat2', action: ENOSYS },
  ];
}

function processRules(allowProcesses: boolean): FilterRule[] {
  if (allowProcesses) return [];
  return [
    { syscall: 'fork', action: EPERM },
    { syscall: 'vfork', action: EPERM },
    { syscall: 'clone', when: { argument: 0, op: 'all-bits-missing', mask: CLONE_THREAD }, action: EPERM },
    // RLIMIT_NOFILE applies per descriptor table: a thread with its own table could open as many files again.
    { syscall: 'clone', when: { argument: 0, op: 'all-bits-missing', mask: CLONE_FILES }, action: EPERM },
    {
      syscall: 'close_range',
      when: { argument: 2, op: 'any-bit', mask: CLOSE_RANGE_UNSHARE },
      action: EPERM,
    },
  ];
}

/**
 * Families such as VSOCK are not namespaced, so a network namespace does not stop them. A unix socket can reach any
 * listener in a granted folder, even on a read-only mount. A pair of streams only reaches its other end; datagram
 * sockets can send to any path.
 */
function familyRules(families: readonly number[]): FilterRule[] {
  const { unix } = SOCKET_FAMILIES;
  return [
    {
      syscall: 'socket',
      ...(families.length > 0 ? { when: { argument: 0, op: 'not-in', values: families } as const } : {}),
      action: EAFNOSUPPORT,
    },
    // Without sockets only pairs are left, and they must not be bound to a name in a granted folder.
    ...(families.length > 0 ? [] : UNUSED_WITHOUT_SOCKETS.map((syscall) => ({ syscall, action: EPERM }))),
    { syscall: 'socketpair', when: { argument: 0, op: 'ne', value: unix }, action: EAFNOSUPPORT },
    { syscall: 'socketpair', when: { argument: 1, op: 'any-bit', mask: DATAGRAM_BIT }, action: EPERM },
  ];
}
