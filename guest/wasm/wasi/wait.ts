/**
 * Things a guest can wait for. Waiting costs a promise and a timer at most, never a spinning loop.
 *
 * @module
 */
import type { HostResource } from '../contract.ts';
import type { Call } from './call.ts';

const MAX_TIMEOUT_MS = 0x7fffffff;
const NS_PER_MS = 1_000_000n;

/** Listeners instead of promises: a guest that polls the same thing for ever leaves nothing behind. */
export abstract class Waitable {
  readonly #listeners = new Set<() => void>();

  abstract ready(): boolean;

  /** Sets in motion what makes it ready. Called before anybody waits, maybe more than once. */
  arm(): void {}

  /** Nobody waits any more. */
  disarm(): void {}

  /** A pollable of it was dropped. */
  letGo(): void {}

  /** Whether it is ready now, after having been given the chance. */
  poll(): boolean {
    if (this.ready()) return true;
    this.arm();
    return this.ready();
  }

  protected notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** For `waitForAny` only. */
  listen(listener: () => void): void {
    this.#listeners.add(listener);
    this.arm();
  }

  unlisten(listener: () => void): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.disarm();
  }
}

/** Resolves as soon as one of them is ready; undefined when one is ready at once. */
export function waitForAny(waitables: readonly Waitable[]): Promise<void> | undefined {
  let anyReady = false;
  for (const waitable of waitables) anyReady = waitable.poll() || anyReady;
  return anyReady ? undefined : waitForReady(waitables);
}

async function waitForReady(waitables: readonly Waitable[]): Promise<void> {
  while (!waitables.some((waitable) => waitable.ready())) {
    let wake = (): void => undefined;
    // oxlint-disable-next-line typescript/no-loop-func -- the executor runs at once
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    for (const waitable of waitables) waitable.listen(wake);
    // What came ready while we were listening to the others would never wake us.
    if (!waitables.some((waitable) => waitable.ready())) await woken;
    for (const waitable of waitables) waitable.unlisten(wake);
  }
}

/** Goes on at once, or when the wait is over. */
export function after<T>(wait: Promise<void> | undefined, next: () => T): T | Promise<T> {
  return wait === undefined ? next() : wait.then(next);
}

/** Ready from a moment of the call's monotonic clock on. */
export class Timer extends Waitable {
  readonly #call: Call;
  readonly #deadline: bigint;
  #timeout: NodeJS.Timeout | undefined;

  constructor(call: Call, deadline: bigint) {
    super();
    this.#call = call;
    this.#deadline = deadline;
  }

  override ready(): boolean {
    return this.#call.monotonic() >= this.#deadline;
  }

  /** The clock goes on by itself: a timeout is for somebody who waits, and is there only as long as they do. */
  override poll(): boolean {
    return this.ready();
  }

  override arm(): void {
    if (this.#timeout !== undefined || this.ready()) return;
    this.#call.armed.add(this);
    const left = (this.#deadline - this.#call.monotonic()) / NS_PER_MS + 1n;
    const delay = left > BigInt(MAX_TIMEOUT_MS) ? MAX_TIMEOUT_MS : Number(left);
    this.#timeout = setTimeout(() => {
      this.disarm();
      if (this.ready()) this.notify();
      else this.arm();
    }, delay);
  }

  override disarm(): void {
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
    this.#call.armed.delete(this);
  }

  override letGo(): void {
    this.disarm();
  }
}

/** The resource of `wasi:io/poll`. */
export class Pollable implements HostResource {
  readonly target: Waitable;

  constructor(target: Waitable) {
    this.target = target;
  }

  drop(): void {
    this.target.letGo();
  }
}
