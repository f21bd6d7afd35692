/**
 * The seccomp profile for a container that runs Skillcell: `deploy/image/seccomp.json`.
 *
 * It derives from the lists of the jail (`src/cell/linux/seccomp/`): Skillcell itself is denied what every skill is denied,
 * except for what bubblewrap needs to build a jail and what the service needs. Run this after a change of these lists:
 *
 *     node scripts/with-node.js scripts/service-seccomp.ts
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DENIED_ALWAYS } from '../src/cell/linux/seccomp/deny-list.ts';
import { allSyscallNames, type SyscallName } from '../src/cell/linux/seccomp/syscalls.ts';
import { ROOT } from './steps.ts';

export const PROFILE_FILE: string = join(ROOT, 'deploy/image/seccomp.json');

/** Bubblewrap, and the zygote that opens namespaces for its calls. Each counts only inside a user namespace. */
export const JAIL_NEEDS: readonly SyscallName[] = [
  'unshare',
  'mount',
  'umount2',
  'pivot_root',
  'sethostname',
];

/** `fs.watch`, which notices new skills and tokens. */
export const SERVICE_NEEDS: readonly SyscallName[] = [
  'inotify_init1',
  'inotify_add_watch',
  'inotify_rm_watch',
];

/** Numbers that Linux reserves and never implemented. */
const UNIMPLEMENTED = new Set(['afs_syscall', 'getpmsg', 'putpmsg', 'security', 'tuxcall', 'vserver']);

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: others, such as AF_VSOCK, are not confined by network namespaces. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** Plain Linux, and the value that only queries. */
const PERSONALITIES = [0, 0xffffffff];

const EPERM = 1;
const ENOSYS = 38;

interface ProfileRule {
  comment?: string;
  names: string[];
  action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  errnoRet?: number;
  args?: { index: number; value: number; op: 'SCMP_CMP_EQ' }[];
}

/** The format that docker, podman, containerd and CRI-O read. */
export interface ServiceProfile {
  defaultAction: 'SCMP_ACT_ERRNO';
  defaultErrnoRet: number;
  architectures: string[];
  syscalls: ProfileRule[];
}

export function serviceProfile(): ServiceProfile {
  const needed = new Set<string>([...JAIL_NEEDS, ...SERVICE_NEEDS]);
  const denied = DENIED_ALWAYS.filter((name) => !needed.has(name)).toSorted();
  const decided = new Set<string>([...denied, ...needed, ...UNIMPLEMENTED, 'socket', 'personality']);
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    // A call that is newer than our list gets the answer of an older kernel, and programs fall back.
    defaultErrnoRet: ENOSYS,
    // 32-bit system calls are refused.
    architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'],
    syscalls: [
      { names: allSyscallNames().filter((name) => !decided.has(name)), action: 'SCMP_ACT_ALLOW' },
      {
        comment: 'bubblewrap: only effective inside its user namespace',
        names: JAIL_NEEDS.toSorted(),
        action: 'SCMP_ACT_ALLOW',
      },
      { comment: 'fs.watch', names: SERVICE_NEEDS.toSorted(), action: 'SCMP_ACT_ALLOW' },
      ...SOCKET_FAMILIES.map((family) => whereFirst('socket', family)),
      ...PERSONALITIES.map((persona) => whereFirst('personality', persona)),
      {
        comment: 'denied to every skill, and to Skillcell itself',
        names: denied,
        action: 'SCMP_ACT_ERRNO',
        errnoRet: EPERM,
      },
    ],
  };
}

/** Allows a call with exactly this first argument. */
function whereFirst(name: string, value: number): ProfileRule {
  return { names: [name], action: 'SCMP_ACT_ALLOW', args: [{ index: 0, value, op: 'SCMP_CMP_EQ' }] };
}

/** The bytes of the file. */
function formatProfile(profile: ServiceProfile): string {
  return `${JSON.stringify(profile, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(PROFILE_FILE, formatProfile(serviceProfile()));
