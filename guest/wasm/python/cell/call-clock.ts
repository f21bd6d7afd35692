/**
 * A coarse clock that starts with the call: it reveals neither the age of the process nor earlier calls, and cannot time
 * caches. Times that the module body read ahead of all calls are always in the past.
 *
 * @module
 */

/** Steps per millisecond, as in components and scripts. */
const STEPS_PER_MS = 10;
/** It does not start at zero, which programs take for a broken clock. */
const FIRST_MS = 1000;

export class CallClock {
  readonly #source: () => number;
  #offset = 0;
  #last = 0;
  #begun: number;

  constructor(source: () => number) {
    this.#source = source;
    this.#begun = source();
  }

  /** Milliseconds. */
  read(): number {
    const steps = Math.floor((this.#source() - this.#begun) * STEPS_PER_MS);
    this.#last = Math.max(this.#last, this.#offset + steps / STEPS_PER_MS);
    return FIRST_MS + this.#last;
  }

  /** Starts a call, without any trace of earlier ones. */
  begin(): void {
    this.#begun = this.#source();
    this.#last = this.#offset;
  }

  /** Everything read so far was read for all future calls. */
  keep(): void {
    this.#offset = this.#last;
  }
}
