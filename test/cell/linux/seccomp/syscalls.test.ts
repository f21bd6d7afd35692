import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseMacros } from '../../../../scripts/make-syscall-tables.ts';
import { SYSCALLS_ARM64 } from '../../../../src/cell/linux/seccomp/syscalls.arm64.ts';
import { SYSCALLS_X64 } from '../../../../src/cell/linux/seccomp/syscalls.x64.ts';
import {
  allSyscallNames,
  isSeccompArch,
  isSyscallName,
  syscallNumber,
} from '../../../../src/cell/linux/seccomp/syscalls.ts';

const HEADER = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h';
const WELL_KNOWN_X64 = { read: 0, mmap: 9, ioctl: 16, clone: 56, execve: 59, mount: 165, openat: 257 };

function expectedX64(): Record<string, number> {
  if (!existsSync(HEADER)) return WELL_KNOWN_X64;
  return { ...WELL_KNOWN_X64, ...Object.fromEntries(parseMacros(readFileSync(HEADER, 'utf8'))) };
}

describe('the system call tables', () => {
  it('have every x64 number of the kernel header (or the well-known ones without a header)', () => {
    expect(SYSCALLS_X64).toMatchObject(expectedX64());
  });

  it('have the arm64 numbers that differ from a naive reading of the generic header', () => {
    expect(SYSCALLS_ARM64).toMatchObject({
      renameat: 38,
      fcntl: 25,
      statfs: 43,
      lseek: 62,
      sendfile: 71,
      newfstatat: 79,
      fstat: 80,
      getrlimit: 163,
      clone: 220,
      mmap: 222,
      fadvise64: 223,
      memfd_secret: 447,
    });
    for (const legacy of ['fork', 'vfork', 'open', 'stat', 'mmap2', 'arch_specific_syscall', 'syscalls']) {
      expect(SYSCALLS_ARM64).not.toHaveProperty(legacy);
    }
  });

  it('have no number twice, and the same numbers on both architectures from 424 on', () => {
    for (const table of [SYSCALLS_X64, SYSCALLS_ARM64]) {
      const numbers = Object.values(table);
      expect(new Set(numbers).size).toBe(numbers.length);
    }
    const recent = Object.entries(SYSCALLS_X64).filter(([, number]) => number >= 424);
    expect(recent.length).toBeGreaterThan(40);
    expect(SYSCALLS_ARM64).toMatchObject(Object.fromEntries(recent));
  });

  it('are generated from macros that may refer to other macros', () => {
    const text = '#define __NR_fcntl __NR3264_fcntl\n#define __NR3264_fcntl 25\n#define __NR_syscalls 451\n';
    expect([...parseMacros(text)]).toEqual([['fcntl', 25]]);
  });

  it('know only their own names and architectures, not properties of Object', () => {
    expect(syscallNumber('x64', 'fork')).toBe(57);
    expect(syscallNumber('arm64', 'fork')).toBeUndefined();
    expect(allSyscallNames()).toContain('fork');
    expect(['x64', 'arm64', 'ia32', 'toString'].map(isSeccompArch)).toEqual([true, true, false, false]);
    expect(['openat', 'constructor', '__proto__', ''].map(isSyscallName)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
