/**
 * Flags of Node processes that wait for calls, as opposed to those that install something and end.
 *
 * @module
 */
export const SERVING_FLAGS: readonly string[] = [
  '--max-old-space-size=96',
  '--expose-gc',
  // Jobs that compile in parallel leave memory of their allocators behind, which a waiting process would keep.
  '--v8-pool-size=1',
];

/** The allocator of a waiting process keeps no more than this of what the compiler used and freed. */
export const SERVING_ENV: Readonly<Record<string, string>> = { MALLOC_TRIM_THRESHOLD_: '131072' };

/** For Python, which draws random numbers from the kernel: loading Node's library for them takes a new process ten milliseconds. */
export const READS_RANDOM = '--allow-fs-read=/dev/urandom';
