/**
 * Enforces the limits that the kernel cannot enforce for a whole process tree.
 *
 * @module
 */
import type { KillReason } from '../contract.ts';

const INTERVAL_MS = 40;
/** While nothing runs, all checks but every so many are left out: hundreds of waiting processes would keep a core busy. */
const RESTING_TICKS = 25;

export interface WatchdogOptions {
  /** Checks once and returns the limit that was hit, if any. */
  exceeded: () => KillReason | undefined;
  kill: (reason: KillReason) => void;
}

export class Watchdog {
  readonly #timer: NodeJS.Timeout;
  #isResting = false;
  /** Ticks since the last check. */
  #ticks = 0;

  constructor({ exceeded, kill }: WatchdogOptions) {
    this.#timer = setInterval(() => {
      if (this.#isResting && ++this.#ticks < RESTING_TICKS) return;
      this.#ticks = 0;
      const reason = exceeded();
      if (reason) kill(reason);
    }, INTERVAL_MS).unref();
  }

  /** Whether nothing runs that could exceed a limit quickly. A run since the last tick is checked by the next one. */
  rest(isResting: boolean): void {
    if (!isResting) this.#ticks = RESTING_TICKS;
    this.#isResting = isResting;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Starts a watchdog that never rests, and returns a function that stops it. */
export function startWatchdog(options: WatchdogOptions): () => void {
  const watchdog = new Watchdog(options);
  return () => watchdog.stop();
}
