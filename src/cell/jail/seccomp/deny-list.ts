/**
 * Which system calls no skill gets, which ones `strict` takes away as well, and which ones
 * nothing can start without. Data only, so that other walls can use the same lists.
 *
 * @module
 */
import type { SyscallName } from './syscalls.ts';

/** Denied to every skill. A call that an architecture lacks is simply not there to be denied. */
// oxfmt-ignore
export const DENIED_ALWAYS: readonly SyscallName[] = [
  // Mounts: the way out of a read-only tree. statmount and listmount also show where binds come from.
  'mount', 'umount2', 'pivot_root', 'chroot', 'mount_setattr', 'move_mount', 'open_tree', 'open_tree_attr',
  'fsopen', 'fsconfig', 'fsmount', 'fspick', 'statmount', 'listmount',
  // Namespaces; clone has a rule of its own.
  'unshare', 'setns',
  // Other processes: their memory, their descriptors, their identity.
  'ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'process_mrelease', 'pidfd_getfd', 'kcmp',
  // Keyrings are not namespaced.
  'add_key', 'request_key', 'keyctl',
  // Large kernel surface with a long record of exploits.
  'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register', 'vmsplice',
  'modify_ldt', 'lookup_dcookie', 'memfd_secret',
  // Files by handle reach past mounts. Watches tell what the host does with files that are shared, such as /usr.
  'name_to_handle_at', 'open_by_handle_at', 'fanotify_init', 'fanotify_mark',
  'inotify_init', 'inotify_init1', 'inotify_add_watch', 'inotify_rm_watch', 'cachestat',
  // Limited for the whole machine: one cell could take all of it, or hold up every disk.
  'io_setup', 'io_destroy', 'io_submit', 'io_cancel', 'io_getevents', 'io_pgetevents', 'sync', 'syncfs',
  // Pipes and sockets left in a granted folder would hang or mislead the programs of the host that open them.
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
  // Memory that no mapping and no file shows, or that cannot be reclaimed.
  'memfd_create', 'mlock', 'mlock2', 'mlockall', 'remap_file_pages',
  // Kernel objects with their own life: timers, queues, System V IPC.
  'timerfd_create', 'timerfd_settime', 'timerfd_gettime', 'timer_create', 'signalfd', 'signalfd4',
  'mq_open', 'mq_unlink', 'mq_timedsend', 'mq_timedreceive', 'mq_notify', 'mq_getsetattr',
  'msgget', 'msgsnd', 'msgrcv', 'msgctl', 'semget', 'semop', 'semtimedop', 'semctl', 'shmget', 'shmat', 'shmdt', 'shmctl',
  // Scheduling: taking more than a fair share.
  'sched_setscheduler', 'sched_setparam', 'sched_setattr', 'sched_setaffinity', 'setpriority', 'ioprio_set',
  // Handles on processes, further filters by way of listeners.
  'pidfd_open', 'pidfd_send_signal', 'seccomp', 'splice', 'tee',
];
