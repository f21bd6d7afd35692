/**
 * Writes src/cell/linux/seccomp/syscalls.{x64,arm64}.ts from the kernel headers of this machine.
 * Run by hand after a header update; needs `cpp` and the Linux user-space headers.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';

/**
 * Calls newer than the headers of Debian 12 (Linux 6.1), up to Linux 6.18. Since number 424 every
 * architecture uses the same numbers, so this one list serves both tables.
 */
const NEWER_CALLS =
  'cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat listxattrat removexattrat open_tree_attr file_getattr file_setattr';
const FIRST_NEWER_NUMBER = 451;

/** What arch/arm64/include/uapi/asm/unistd.h defines before it includes the generic header. */
const ARM64_WANTS = [
  'RENAMEAT',
  'NEW_STAT',
  'SET_GET_RLIMIT',
  'TIME32_SYSCALLS',
  'SYS_CLONE3',
  'MEMFD_SECRET',
];

/** Names in the generic header that count or mark, and are not calls. */
const NOT_CALLS = new Set(['syscalls', 'arch_specific_syscall']);

const SOURCES = {
  x64: '#include <asm/unistd_64.h>\n',
  arm64: `${ARM64_WANTS.map((name) => `#define __ARCH_WANT_${name}\n`).join('')}#include <asm-generic/unistd.h>\n`,
};

type Arch = keyof typeof SOURCES;

/** Reads `#define __NR_name value` lines; a value may be another macro (`__NR3264_fcntl`). */
export function parseMacros(text: string): Map<string, number> {
  const raw = new Map<string, string>();
  for (const [, name, value] of text.matchAll(/^#define (__NR(?:3264)?_\w+)\s+(\w+)/gm)) {
    if (name !== undefined && value !== undefined) raw.set(name, value);
  }
  const numbers = new Map<string, number>();
  for (const [name, value] of raw) {
    const number = Number(raw.get(value) ?? value);
    const call = name.replace('__NR_', '');
    if (!name.startsWith('__NR_') || NOT_CALLS.has(call)) continue;
    if (!Number.isInteger(number)) throw new Error(`Macro "${name}" has no number: "${value}"`);
    numbers.set(call, number);
  }
  return numbers;
}

function readTable(arch: Arch): Map<string, number> {
  const text = execFileSync('cpp', ['-dM', '-'], { input: SOURCES[arch], encoding: 'utf8' });
  const table = parseMacros(text);
  NEWER_CALLS.split(' ').forEach((name, index) => table.set(name, FIRST_NEWER_NUMBER + index));
  return table;
}

function compactLines(entries: string[]): string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + entry.length < 108) lines[lines.length - 1] = `${last} ${entry}`;
    else lines.push(`  ${entry}`);
  }
  return lines;
}

function render(arch: Arch, table: Map<string, number>): string {
  const entries = [...table].sort((a, b) => a[1] - b[1]).map(([name, number]) => `${name}: ${number},`);
  return `/**
 * Every system call number of Linux on ${arch}. Written by scripts/make-syscall-tables.ts.
 *
 * @module
 */
// oxfmt-ignore
export const SYSCALLS_${arch.toUpperCase()} = {
${compactLines(entries).join('\n')}
} as const;
`;
}

if (argv[1] === import.meta.filename) {
  for (const arch of ['x64', 'arm64'] as const) {
    const file = join(import.meta.dirname, '..', 'src', 'cell', 'linux', 'seccomp', `syscalls.${arch}.ts`);
    writeFileSync(file, render(arch, readTable(arch)));
  }
}
