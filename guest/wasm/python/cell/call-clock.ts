/**
 * A clock that begins with the call and goes in steps: it neither tells for how long the process has lived and what calls
 * before used, nor times caches. What the module body saw of it, ahead of all calls, stays in its past.
 *
 * @module
 */

/** Steps in a millisecond: as in components and scripts. */
const STEPS_PER_MS = 10;
/** It does not start at zero, which programs take for a clock that does not work. */
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

  /** A call begins: it knows of no call before. */
  begin(): void {
    this.#begun = this.#source();
    this.#last = this.#offset;
  }

  /** Whatever was read until now was read for all calls to come. */
  keep(): void {
    this.#offset = this.#last;
  }
}
