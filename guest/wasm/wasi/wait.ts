/**
 * Things that a guest can wait for. Waiting costs at most a promise and a timer, never a busy loop.
 *
 * @module
 */
import type { HostResource } from '../contract.ts';
import type { Call } from './call.ts';

const MAX_TIMEOUT_MS = 0x7fffffff;
const NS_PER_MS = 1_000_000n;

/** Listeners instead of promises: a guest that polls the same thing forever leaves nothing behind. */
export abstract class Waitable {
  readonly #listeners = new Set<() => void>();

  abstract ready(): boolean;

  /** Starts what makes it ready. Called before waiting, possibly more than once. */
  arm(): void {}

  /** Called when the wait has ended. */
  disarm(): void {}

  /** A pollable of it was dropped. */
  letGo(): void {}

  /** Whether it is ready now, after it had a chance to become so. */
  poll(): boolean {
    if (this.ready()) return true;
    this.arm();
    return this.ready();
  }

  protected notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Only for `waitForAny`. */
  listen(listener: () => void): void {
    this.#listeners.add(listener);
    this.arm();
  }

  unlisten(listener: () => void): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.disarm();
  }
}

/** Resolves as soon as one of them is ready; undefined if one already is. */
export function waitForAny(waitables: readonly Waitable[]): Promise<void> | undefined {
  let anyReady = false;
  for (const waitable of waitables) anyReady = waitable.poll() || anyReady;
  return anyReady ? undefined : waitForReady(waitables);
}

async function waitForReady(waitables: readonly Waitable[]): Promise<void> {
  while (!waitables.some((waitable) => waitable.ready())) {
    let wake = (): void => undefined;
    // oxlint-disable-next-line typescript/no-loop-func -- the executor runs immediately
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    for (const waitable of waitables) waitable.listen(wake);
    // One that became ready while we subscribed to the others would never wake us.
    if (!waitables.some((waitable) => waitable.ready())) await woken;
    for (const waitable of waitables) waitable.unlisten(wake);
  }
}

/** Continues immediately, or when the wait is over. */
export function after<T>(wait: Promise<void> | undefined, next: () => T): T | Promise<T> {
  return wait === undefined ? next() : wait.then(next);
}

/** Ready from a given time of the call's monotonic clock. */
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

  /** The clock advances by itself: a timer is only needed while someone waits. */
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
