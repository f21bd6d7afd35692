/**
 * Rules against memory that belongs to no mapping of a process. A control group counts such memory; without one nothing
 * would, so these calls are then refused. Data only.
 *
 * @module
 */
import type { Action, FilterRule } from './assembler.ts';
import type { SyscallName } from './syscalls.ts';

const EPERM: Action = { errno: 1 };
/** As for files without support, so that libraries copy in another way. */
const EINVAL: Action = { errno: 22 };
/** As on a file system without attributes, or a kernel with the feature disabled. */
const EOPNOTSUPP: Action = { errno: 95 };
/** The call succeeds without effect, as for a size beyond the machine's limit. */
const IGNORED: Action = { errno: 0 };

const SOL_SOCKET = 1;
const SO_SNDBUF = 7;

const refused = (action: Action, names: readonly SyscallName[]): FilterRule[] =>
  names.map((syscall) => ({ syscall, action }));

export const UNMAPPED_MEMORY_RULES: readonly FilterRule[] = [
  // Memory with its own lifetime.
  ...refused(EPERM, ['memfd_create', 'shmget', 'msgget', 'semget', 'mq_open']),
  // A page in transit outlives a truncation of its file: one queued byte keeps the whole page.
  ...refused(EINVAL, ['splice', 'tee', 'sendfile']),
  // The size of a tmpfs does not limit attributes, and Landlock rules have no useful limit.
  ...refused(EOPNOTSUPP, ['setxattr', 'lsetxattr', 'fsetxattr', 'setxattrat', 'landlock_create_ruleset']),
  {
    syscall: 'setsockopt',
    when: { argument: 2, op: 'eq', value: SO_SNDBUF },
    and: { argument: 1, op: 'eq', value: SOL_SOCKET },
    action: IGNORED,
  },
];
