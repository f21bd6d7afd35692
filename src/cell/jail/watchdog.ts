/**
 * Looks after the limits that no kernel facility keeps for a whole tree of processes.
 *
 * @module
 */
import type { GrantedLimits } from '../../policy/grant.ts';
import type { KillReason, ProcessUsage } from '../contract.ts';

const INTERVAL_MS = 40;

export interface WatchdogOptions {
  limits: GrantedLimits;
  measure: () => ProcessUsage;
  /** Whether memory is ours to watch, too. */
  memory: boolean;
  kill: (reason: KillReason) => void;
}

/** Starts watching; the returned function stops it. */
export function startWatchdog({ limits, measure, memory, kill }: WatchdogOptions): () => void {
  const timer = setInterval(() => {
    const { cpuMs, memoryPeakBytes } = measure();
    if (memory && memoryPeakBytes > limits.memory) kill('memory');
    else if (cpuMs > limits.cpu) kill('cpu');
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
