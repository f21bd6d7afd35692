/**
 * One lane of calls: how many are in it, how many wait for it, and how often it may be entered.
 *
 * @module
 */
import type { LaneLimits, Rate } from './limits.ts';

/** What a call is taken to last as long as none has ended. */
const FIRST_GUESS_MS = 1000;
/** How much the newest call counts. */
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

  /** The operator may change them while calls are made. */
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

  /** Nothing would be lost if it were made anew. */
  isForgettable(now: number): boolean {
    return this.running === 0 && this.waiting === 0 && (this.#bucket?.isFull(now) ?? true);
  }

  /** Milliseconds until the rate lets another call in; 0: now. */
  pause(now: number): number {
    return this.#bucket?.pause(now) ?? 0;
  }

  /** Counts a call against the rate. */
  count(now: number): void {
    this.#bucket?.take(now);
  }

  leave(tookMs: number): void {
    this.running--;
    this.#usualMs += WEIGHT * (tookMs - this.#usualMs);
  }

  /** When a place in the queue is likely to be free. */
  likelyPause(): number {
    return Math.ceil(this.#usualMs / Math.max(1, this.#limits.concurrent));
  }
}

/** Fills by the clock, and each call takes one out of it. */
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

  pause(now: number): number {
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
