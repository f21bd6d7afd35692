/**
 * Enforces the limits that the kernel cannot enforce for a whole process tree.
 *
 * @module
 */
import type { KillReason } from '../contract.ts';

const INTERVAL_MS = 40;

export interface WatchdogOptions {
  /** Checks once and returns the limit that was hit, if any. */
  exceeded: () => KillReason | undefined;
  kill: (reason: KillReason) => void;
}

/** Starts the watchdog and returns a function that stops it. */
export function startWatchdog({ exceeded, kill }: WatchdogOptions): () => void {
  const timer = setInterval(() => {
    const reason = exceeded();
    if (reason) kill(reason);
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
