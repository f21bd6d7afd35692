/**
 * Tells a Node process that ended because its heap was full from one that crashed.
 *
 * @module
 */
import { constants } from 'node:os';
import type { ExitInfo, GuestLimit } from '../contract.ts';

/** How V8 ends when its heap is full. */
const HEAP_IS_FULL = /out of memory/i;
const ENDS_OF_V8: ReadonlySet<number> = new Set([
  constants.signals.SIGABRT,
  constants.signals.SIGTRAP,
  constants.signals.SIGILL,
  // What is left of an abort in a process that is the first of its namespace.
  constants.signals.SIGSEGV,
]);

/** A full heap ends the process, so that nothing inside can tell. Who forges these words only fails by another name. */
export function heapLimitBehind({ code, signal }: ExitInfo, logs: string): GuestLimit | undefined {
  const number = signal ? constants.signals[signal] : (code ?? 0) - 128;
  return ENDS_OF_V8.has(number) && HEAP_IS_FULL.test(logs) ? 'memory' : undefined;
}
