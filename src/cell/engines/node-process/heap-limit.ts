/**
 * Distinguishes a Node process that ran out of heap from one that crashed.
 *
 * @module
 */
import { constants } from 'node:os';
import type { ExitInfo } from '../../contract.ts';
import type { GuestLimit } from '../../../vocabulary/limits.ts';

/** V8 prints this before it aborts because its heap is full. */
const HEAP_IS_FULL = /out of memory/i;
const ENDS_OF_V8: ReadonlySet<number> = new Set([
  constants.signals.SIGABRT,
  constants.signals.SIGTRAP,
  constants.signals.SIGILL,
  // How an abort ends in the first process of a pid namespace.
  constants.signals.SIGSEGV,
]);

/** A full heap kills the process before it can report a limit. A guest that forges the text gains only another error. */
export function heapLimitBehind({ code, signal }: ExitInfo, logs: string): GuestLimit | undefined {
  const number = signal ? constants.signals[signal] : (code ?? 0) - 128;
  return ENDS_OF_V8.has(number) && HEAP_IS_FULL.test(logs) ? 'memory' : undefined;
}
