/**
 * One lane of calls: running calls, queued calls, and the rate.
 *
 * @module
 */
import type { LaneLimits, Rate } from './limits.ts';

/** Assumed duration of a call until one has ended. */
const FIRST_GUESS_MS = 1000;
/** Weight of the newest call in the average. */
const WEIGHT = 0.2;

export class Lane {
  #limits: LaneLimits;
  #bucket: Bucket | undefined;
  running = 0;
  waiting = 0;
  #usualMs = FIRST_GUESS_MS;

  constructor(limits: LaneLimits, now: number) {
    this.#limits = limits;
    this.#bucket = limits.rate && new Bucket(limits.rate, now);
  }

  get limits(): LaneLimits {
    return this.#limits;
  }

  /** The operator may change limits while calls run. */
  adjust(limits: LaneLimits, now: number): void {
    const { calls, per } = this.#limits.rate ?? {};
    if (limits.rate?.calls !== calls || limits.rate?.per !== per)
      this.#bucket = limits.rate && new Bucket(limits.rate, now);
    this.#limits = limits;
  }

  get hasRoom(): boolean {
    return this.running < this.#limits.concurrent;
  }

  get hasQueue(): boolean {
    return this.waiting < this.#limits.queue;
  }

  /** True if the lane can be dropped and created again without losing state. */
  isIdle(now: number): boolean {
    return this.running === 0 && this.waiting === 0 && (this.#bucket?.isFull(now) ?? true);
  }

  /** Milliseconds until the rate allows another call; 0: now. */
  waitMs(now: number): number {
    return this.#bucket?.waitMs(now) ?? 0;
  }

  /** Counts a call against the rate. */
  count(now: number): void {
    this.#bucket?.take(now);
  }

  leave(tookMs: number): void {
    this.running--;
    this.#usualMs += WEIGHT * (tookMs - this.#usualMs);
  }

  /** Expected milliseconds until the queue has room. */
  expectedWaitMs(): number {
    return Math.ceil(this.#usualMs / Math.max(1, this.#limits.concurrent));
  }
}

/** A token bucket: fills over time, and each call takes one token. */
class Bucket {
  readonly #rate: Rate;
  #left: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#left = rate.calls;
    this.#at = now;
  }

  isFull(now: number): boolean {
    this.#fill(now);
    return this.#left >= this.#rate.calls;
  }

  waitMs(now: number): number {
    this.#fill(now);
    return this.#left >= 1 ? 0 : Math.ceil((1 - this.#left) * (this.#rate.per / this.#rate.calls));
  }

  take(now: number): void {
    this.#fill(now);
    this.#left--;
  }

  #fill(now: number): void {
    const { calls, per } = this.#rate;
    this.#left = Math.min(calls, this.#left + ((now - this.#at) * calls) / per);
    this.#at = now;
  }
}
