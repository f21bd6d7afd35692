/**
 * The system calls that are denied to every skill, and those that `strict` denies too. Data only, so that other walls
 * can use the same lists.
 *
 * @module
 */
import type { SyscallName } from './syscalls.ts';

/** Denied to every skill. Calls that an architecture lacks are skipped. */
// oxfmt-ignore
export const DENIED_ALWAYS: readonly SyscallName[] = [
  // Mounts, which could undo a read-only tree. statmount and listmount also reveal the sources of bind mounts.
  'mount', 'umount2', 'pivot_root', 'chroot', 'mount_setattr', 'move_mount', 'open_tree', 'open_tree_attr',
  'fsopen', 'fsconfig', 'fsmount', 'fspick', 'statmount', 'listmount',
  // Namespaces; clone has a separate rule.
  'unshare', 'setns',
  // Other processes: their memory, their descriptors, their identity.
  'ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'process_mrelease', 'pidfd_getfd', 'kcmp',
  // Keyrings are not namespaced.
  'add_key', 'request_key', 'keyctl',
  // Large kernel attack surface with a long record of exploits.
  'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register', 'vmsplice',
  'modify_ldt', 'lookup_dcookie', 'memfd_secret',
  // File handles reach past mounts. Watches reveal what the host does with shared files, such as /usr.
  'name_to_handle_at', 'open_by_handle_at', 'fanotify_init', 'fanotify_mark',
  'inotify_init', 'inotify_init1', 'inotify_add_watch', 'inotify_rm_watch', 'cachestat',
  // Limited machine-wide: one cell could use up the limit or block every disk.
  'io_setup', 'io_destroy', 'io_submit', 'io_cancel', 'io_getevents', 'io_pgetevents', 'sync', 'syncfs',
  // Pipes and sockets left in a granted folder could hang or mislead host programs that open them.
  'mknod', 'mknodat',
  // The machine itself.
  'kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module', 'create_module', 'query_module',
  'get_kernel_syms', 'reboot', 'swapon', 'swapoff', 'acct', 'quotactl', 'quotactl_fd', 'syslog', '_sysctl',
  'sysfs', 'ustat', 'uselib', 'nfsservctl', 'vhangup', 'ioperm', 'iopl', 'sethostname', 'setdomainname',
  'settimeofday', 'clock_settime', 'clock_adjtime', 'adjtimex', 'lsm_set_self_attr',
  // Memory placement across nodes and processes.
  'mbind', 'set_mempolicy', 'set_mempolicy_home_node', 'migrate_pages', 'move_pages',
];

/** Denied under `strict`: what a pure computation in CPython does not need. */
// oxfmt-ignore
export const DENIED_STRICT: readonly SyscallName[] = [
  // Memory that is not visible in any mapping or file, or that cannot be reclaimed.
  'memfd_create', 'mlock', 'mlock2', 'mlockall', 'remap_file_pages',
  // Kernel objects with their own lifetime: timers, queues, System V IPC.
  'timerfd_create', 'timerfd_settime', 'timerfd_gettime', 'timer_create', 'signalfd', 'signalfd4',
  'mq_open', 'mq_unlink', 'mq_timedsend', 'mq_timedreceive', 'mq_notify', 'mq_getsetattr',
  'msgget', 'msgsnd', 'msgrcv', 'msgctl', 'semget', 'semop', 'semtimedop', 'semctl', 'shmget', 'shmat', 'shmdt', 'shmctl',
  // Scheduling: taking more than a fair share.
  'sched_setscheduler', 'sched_setparam', 'sched_setattr', 'sched_setaffinity', 'setpriority', 'ioprio_set',
  // Process handles, and further filters with listeners.
  'pidfd_open', 'pidfd_send_signal', 'seccomp', 'splice', 'tee',
];
