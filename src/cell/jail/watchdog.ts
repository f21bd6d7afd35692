/**
 * Looks after the limits that no kernel facility keeps for a whole tree of processes.
 *
 * @module
 */
import type { KillReason } from '../contract.ts';

const INTERVAL_MS = 40;

export interface WatchdogOptions {
  /** Looks once: the limit that was hit, if one was. */
  exceeded: () => KillReason | undefined;
  kill: (reason: KillReason) => void;
}

/** Starts watching; the returned function stops it. */
export function startWatchdog({ exceeded, kill }: WatchdogOptions): () => void {
  const timer = setInterval(() => {
    const reason = exceeded();
    if (reason) kill(reason);
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
