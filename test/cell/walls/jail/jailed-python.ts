/**
 * Runs a Python program with a seccomp filter in a real bubblewrap, never as root.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const PYTHON = '/usr/bin/python3';
const NOBODY = 65534;

/** Root inside a user namespace is still root outside, so drop to nobody first. */
export const UNPRIVILEGED: { uid?: number; gid?: number } =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

// oxfmt-ignore
const JAIL = [
  '--unshare-user', '--unshare-all', '--disable-userns', '--as-pid-1', '--die-with-parent', '--new-session',
  '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev',
  '--size', '8388608', '--tmpfs', '/tmp', '--chdir', '/tmp',
];

export interface JailedRun {
  status: number | null;
  stdout: string;
  stderr: string;
}

export function runJailedPython(program: string, filter?: Buffer): JailedRun {
  const folder = mkdtempSync(join(tmpdir(), 'seccomp-test-'));
  const file = join(folder, 'filter.bpf');
  writeFileSync(file, filter ?? Buffer.alloc(0));
  const fd = openSync(file, 'r');
  try {
    const seccomp = filter ? ['--seccomp', '3'] : [];
    const argv = [...JAIL, ...seccomp, '/usr/bin/prlimit', '--core=0:0', PYTHON, '-I', '-S', '-c', program];
    const run = spawnSync('/usr/bin/bwrap', argv, {
      ...UNPRIVILEGED,
      env: {},
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe', fd],
      encoding: 'utf8',
      timeout: 200_000,
    });
    return { status: run.status, stdout: run.stdout, stderr: run.stderr };
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
}

/** Makes raw system calls in the jail and returns the errno of each (0 for success). */
export function errnosInJail(calls: readonly (readonly (number | bigint)[])[], filter?: Buffer): number[] {
  const list = `[${calls.map((call) => `[${call.join(',')}]`).join(',')}]`;
  const run = runJailedPython(
    `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def errno_of(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in args])
    return ctypes.get_errno() if result == -1 else 0
print([errno_of(*call) for call in ${list}])
`,
    filter,
  );
  if (run.status !== 0) throw new Error(`The jailed program failed (${run.status}): ${run.stderr}`);
  return JSON.parse(run.stdout) as number[];
}
