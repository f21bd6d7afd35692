/**
 * File descriptors that this process inherited without close-on-exec would reach every child, jail or not.
 *
 * @module
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/** Descriptors above the standard three that a child would inherit, in rising order; the kernel lists them in none. */
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
    // The descriptor of the listing itself: closed by now.
    return false;
  }
}

type Stdio = ('ignore' | 'pipe' | number)[];

/** Calls `spawn` with the wanted streams, and with /dev/null wherever a descriptor would leak. */
export function withoutLeaks<T>(
  wanted: ('ignore' | 'pipe')[],
  leaks: number[],
  spawn: (stdio: Stdio) => T,
): T {
  const devNull = openSync('/dev/null', 'r');
  try {
    const stdio: Stdio = [...wanted];
    for (const leak of leaks.filter((fd) => fd >= wanted.length)) {
      // 'ignore' leaves a descriptor above the standard three as it is; what does not leak closes by itself.
      while (stdio.length < leak) stdio.push('ignore');
      stdio.push(devNull);
    }
    return spawn(stdio);
  } finally {
    closeSync(devNull);
  }
}
