/**
 * Timers of the process that wait for one call. None of them outlives it: they would slow down the calls after it.
 *
 * @module
 */
import { GuestEnd } from '../contract.ts';

/** As many as one poll can wait for. */
const MAX_ARMED = 4096;

interface Armed {
  disarm(): void;
}

export class ArmedTimers {
  readonly #timers = new Set<Armed>();
  #isOver = false;

  /** Before it is armed. */
  add(timer: Armed): void {
    if (this.#isOver) throw new GuestEnd('trap', 'The call is over');
    if (this.#timers.size >= MAX_ARMED) throw new GuestEnd('limit', 'handles');
    this.#timers.add(timer);
  }

  delete(timer: Armed): void {
    this.#timers.delete(timer);
  }

  /** The call is over. */
  disarmAll(): void {
    this.#isOver = true;
    for (const timer of this.#timers) timer.disarm();
  }
}
