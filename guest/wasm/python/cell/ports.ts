/**
 * The parts of the outside that the import layer may use.
 *
 * @module
 */
import type { Ports } from '../host/context.ts';

/** Longest single wait; callers that need more wait again. */
const LONGEST_WAIT_MS = 1_000_000;
const MICROSECONDS_PER_MS = 1000;
const RANDOM_CHUNK_BYTES = 65_536;

export function ports(exit: (code: number) => never): Ports {
  const lock = new Int32Array(new SharedArrayBuffer(4));
  return {
    now: () => Date.now(),
    elapsed: () => performance.now(),
    worked: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS_PER_MS;
    },
    random: (into) => {
      for (let at = 0; at < into.length; at += RANDOM_CHUNK_BYTES)
        crypto.getRandomValues(into.subarray(at, at + RANDOM_CHUNK_BYTES) as Uint8Array<ArrayBuffer>);
    },
    sleep: (milliseconds) => {
      const until = performance.now() + milliseconds;
      for (let left = milliseconds; left > 0; left = until - performance.now())
        Atomics.wait(lock, 0, 0, Math.min(left, LONGEST_WAIT_MS));
    },
    exit,
  };
}
