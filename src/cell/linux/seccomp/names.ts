/**
 * Checks the names in a manifest's `syscalls: { deny: [...] }`.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import { nearestNames } from '../../../load/nearest-names.ts';
import { allSyscallNames, isSyscallName } from './syscalls.ts';
import type { SyscallName } from './syscalls.ts';

/**
 * Without these a program cannot start under bwrap and prlimit, cannot exit, or cannot install the no-exec filter on
 * itself.
 */
// oxfmt-ignore
export const NEEDED_TO_START: ReadonlySet<SyscallName> = new Set<SyscallName>([
  'execve', 'read', 'pread64', 'write', 'openat', 'close', 'fcntl', 'getdents64', 'fstat', 'newfstatat', 'lseek',
  'mmap', 'munmap', 'mprotect', 'brk', 'futex', 'arch_prctl', 'set_tid_address', 'prlimit64', 'prctl',
  'rt_sigaction', 'rt_sigprocmask', 'rt_sigreturn', 'exit', 'exit_group',
]);

/** Returns the names if all exist and can be denied; otherwise throws `manifest_invalid`. */
export function checkedNames(names: readonly string[]): SyscallName[] {
  return names.map((name) => {
    if (!isSyscallName(name)) throw unknownName(name);
    if (NEEDED_TO_START.has(name)) throw neededName(name);
    return name;
  });
}

function unknownName(name: string): SkillError {
  const near = nearestNames(name, allSyscallNames());
  const hint = near.length > 0 ? `Did you mean ${near.map((one) => `"${one}"`).join(', ')}?` : '';
  return new SkillError('manifest_invalid', `Unknown system call "${name}" in capabilities.syscalls.deny.`, {
    fix: `${hint} Use a Linux system call name as in "man 2 syscalls", or remove it.`.trimStart(),
    detail: { field: 'capabilities.syscalls.deny', name, near },
  });
}

function neededName(name: string): SkillError {
  const message = `The system call "${name}" in capabilities.syscalls.deny cannot be denied: no program can start without it.`;
  return new SkillError('manifest_invalid', message, {
    fix: `Remove "${name}" from capabilities.syscalls.deny.`,
    detail: { field: 'capabilities.syscalls.deny', name },
  });
}
