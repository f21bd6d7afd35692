/**
 * Process timers that wait for one call. They are cleared with it, because they would slow down later calls.
 *
 * @module
 */
import { GuestEnd } from '../contract.ts';

/** The maximum that one poll can wait for. */
const MAX_ARMED = 4096;

interface Armed {
  disarm(): void;
}

export class ArmedTimers {
  readonly #timers = new Set<Armed>();
  #isOver = false;

  /** Called before a timer is armed. */
  add(timer: Armed): void {
    if (this.#isOver) throw new GuestEnd('trap', 'The call has ended');
    if (this.#timers.size >= MAX_ARMED) throw new GuestEnd('limit', 'handles');
    this.#timers.add(timer);
  }

  delete(timer: Armed): void {
    this.#timers.delete(timer);
  }

  /** Called when the call has ended. */
  disarmAll(): void {
    this.#isOver = true;
    for (const timer of this.#timers) timer.disarm();
  }
}
