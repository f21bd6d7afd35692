/**
 * What makes memory that belongs to no mapping of a process. Where a control group counts it, it may be; where there is none,
 * nothing would, so these calls are refused there. Data only.
 *
 * @module
 */
import type { Action, FilterRule } from './assembler.ts';
import type { SyscallName } from './syscalls.ts';

const EPERM: Action = { errno: 1 };
/** As for files that do not have it: libraries then copy in another way. */
const EINVAL: Action = { errno: 22 };
/** As a file system without attributes, or a kernel that has it switched off. */
const EOPNOTSUPP: Action = { errno: 95 };
/** The call does nothing and succeeds, as it does for a size beyond what the machine allows. */
const IGNORED: Action = { errno: 0 };

const SOL_SOCKET = 1;
const SO_SNDBUF = 7;

const refused = (action: Action, names: readonly SyscallName[]): FilterRule[] =>
  names.map((syscall) => ({ syscall, action }));

export const UNSEEN_MEMORY: readonly FilterRule[] = [
  // Memory with a life of its own.
  ...refused(EPERM, ['memfd_create', 'shmget', 'msgget', 'semget', 'mq_open']),
  // A page that is sent as a part of a file stays when the file is cut off: a byte on the way keeps all of it.
  ...refused(EINVAL, ['splice', 'tee', 'sendfile']),
  // Attributes are not a part of what the size of a tmpfs bounds; rules of Landlock have no bound that matters.
  ...refused(EOPNOTSUPP, ['setxattr', 'lsetxattr', 'fsetxattr', 'setxattrat', 'landlock_create_ruleset']),
  {
    syscall: 'setsockopt',
    when: { argument: 2, op: 'eq', value: SO_SNDBUF },
    and: { argument: 1, op: 'eq', value: SOL_SOCKET },
    action: IGNORED,
  },
];
