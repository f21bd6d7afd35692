/**
 * Keeps inherited file descriptors from leaking into cells. Those without close-on-exec would reach every child process.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { SkillError } from '../../errors.ts';

const O_CLOEXEC = 0o2000000;

/** Descriptors above the standard three that a child would inherit, sorted, because the kernel lists them in no order. */
export function inheritableDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && isInheritable(fd))
    .toSorted((a, b) => a - b);
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // The descriptor of the directory listing itself, already closed.
    return false;
  }
}

type Stdio = ('ignore' | 'pipe' | number)[];

/** Calls `spawn` with the wanted streams, and with /dev/null in place of leaking descriptors. */
export function withoutLeaks<T extends ChildProcess>(
  wanted: ('ignore' | 'pipe')[],
  leaks: number[],
  spawn: (stdio: Stdio) => T,
): T {
  try {
    const devNull = openSync('/dev/null', 'r');
    try {
      return withErrorListeners(spawn(stdioOf(wanted, leaks, devNull)));
    } finally {
      closeSync(devNull);
    }
  } catch (error) {
    throw OUT_OF_FILES.has((error as NodeJS.ErrnoException).code ?? '') ? outOfFiles(error) : error;
  }
}

function stdioOf(wanted: ('ignore' | 'pipe')[], leaks: number[], devNull: number): Stdio {
  const stdio: Stdio = [...wanted];
  for (const leak of leaks.filter((fd) => fd >= wanted.length)) {
    // 'ignore' keeps a descriptor above the standard three unchanged; those that do not leak are closed on exec.
    while (stdio.length < leak) stdio.push('ignore');
    stdio.push(devNull);
  }
  return stdio;
}

/** Without listeners, an error of a process or its streams would crash the host. The exit is handled elsewhere. */
function withErrorListeners<T extends ChildProcess>(child: T): T {
  child.on('error', () => undefined);
  // Node creates no streams if it runs out of descriptors.
  const streams = child.stdio as ChildProcess['stdio'] | undefined;
  if (!streams) throw Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' });
  for (const stream of streams) stream?.on('error', () => undefined);
  return child;
}

const OUT_OF_FILES = new Set(['EMFILE', 'ENFILE']);
const RETRY_MS = 1000;

function outOfFiles(cause: unknown): SkillError {
  return new SkillError('resource_exceeded', 'The host has no file descriptors left to start a cell', {
    fix: 'Try again when other calls have finished, or have the operator raise the limit of open files (`ulimit -n`).',
    detail: { limit: 'busy', scope: 'all', retry_after_ms: RETRY_MS },
    cause,
  });
}
