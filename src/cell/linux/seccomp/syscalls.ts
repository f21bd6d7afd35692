/**
 * The system call tables by architecture, and the names that a rule may use.
 *
 * @module
 */
import { SYSCALLS_ARM64 } from './syscalls.arm64.ts';
import { SYSCALLS_X64 } from './syscalls.x64.ts';

/** The supported architectures, named as in `process.arch`. */
export type SeccompArch = 'x64' | 'arm64';

/** A call that exists on at least one architecture. */
export type SyscallName = keyof typeof SYSCALLS_X64 | keyof typeof SYSCALLS_ARM64;

const TABLES: Record<SeccompArch, ReadonlyMap<string, number>> = {
  x64: new Map(Object.entries(SYSCALLS_X64)),
  arm64: new Map(Object.entries(SYSCALLS_ARM64)),
};

export function isSeccompArch(arch: string): arch is SeccompArch {
  return Object.hasOwn(TABLES, arch);
}

export function isSyscallName(name: string): name is SyscallName {
  return TABLES.x64.has(name) || TABLES.arm64.has(name);
}

/** The number of a call, or undefined if this architecture lacks it (`fork` on arm64). */
export function syscallNumber(arch: SeccompArch, name: SyscallName): number | undefined {
  return TABLES[arch].get(name);
}

/** The highest number in the table; calls above it are newer than the table. */
export function highestSyscall(arch: SeccompArch): number {
  return Math.max(...TABLES[arch].values());
}

export function allSyscallNames(): string[] {
  return [...new Set([...TABLES.x64.keys(), ...TABLES.arm64.keys()])].sort();
}
