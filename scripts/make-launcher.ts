/**
 * Builds the launcher of container programs, for every architecture, from `guest/launch/launch.c`. The results are
 * committed, because users have no compiler; `test/cell/engines/exec/launcher.test.ts` rebuilds and compares them.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { launcherFile } from '../src/cell/engines/exec/launcher.ts';
import type { SeccompArch } from '../src/cell/linux/seccomp/syscalls.ts';

const TARGETS: Readonly<Record<SeccompArch, string>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
};
/** No library, nothing of the machine that builds it, and no timestamps. */
const OPTIONS = [
  ...[
    '-std=c11',
    '-Os',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-ffreestanding',
    '-nostdlib',
    '-static',
    '-fno-builtin',
  ],
  ...[
    '-fno-stack-protector',
    '-fno-pic',
    '-fno-asynchronous-unwind-tables',
    '-fno-unwind-tables',
    '-fno-ident',
  ],
  ...['-fuse-ld=lld', '-Wl,--build-id=none', '-Wl,-s', '-Wl,-z,noexecstack'],
];

export const LAUNCHER_ARCHES: readonly SeccompArch[] = ['x64', 'arm64'];

export function buildLauncher(arch: SeccompArch, target: string = launcherFile(arch)): void {
  // A relative path: clang may write the name of its input into the result.
  const folder = join(launcherFile(arch), '..');
  const args = [`--target=${TARGETS[arch]}`, ...OPTIONS, '-o', target, 'launch.c'];
  execFileSync('clang', args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** The major version of the compiler here; another one may give other bytes. */
export function compilerVersion(): string {
  const text = execFileSync('clang', ['--version'], { encoding: 'utf8' });
  return /version (\d+)/.exec(text)?.[1] ?? 'unknown';
}

/** The version that built the committed files. */
export const BUILT_WITH = '14';

if (import.meta.main) for (const arch of LAUNCHER_ARCHES) buildLauncher(arch);
