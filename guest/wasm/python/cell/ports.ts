/**
 * The parts of the outside that the import layer may use.
 *
 * @module
 */
import { openSync, readSync } from 'node:fs';
import type { Ports } from '../host/context.ts';

/** Longest single wait; callers that need more wait again. */
const LONGEST_WAIT_MS = 1_000_000;
const MICROSECONDS_PER_MS = 1000;
/** Of the kernel; loading Node's library for random numbers takes a new process ten milliseconds. */
const RANDOM = '/dev/urandom';

export function ports(exit: (code: number) => never): Ports {
  let source: number | undefined;
  const lock = new Int32Array(new SharedArrayBuffer(4));
  return {
    now: () => Date.now(),
    elapsed: () => performance.now(),
    worked: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS_PER_MS;
    },
    random: (into) => {
      source ??= openSync(RANDOM, 'r');
      for (let done = 0; done < into.length;) done += readSync(source, into, done, into.length - done, null);
    },
    sleep: (milliseconds) => {
      const until = performance.now() + milliseconds;
      for (let left = milliseconds; left > 0; left = until - performance.now())
        Atomics.wait(lock, 0, 0, Math.min(left, LONGEST_WAIT_MS));
    },
    exit,
  };
}
