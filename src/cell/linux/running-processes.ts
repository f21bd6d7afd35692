/**
 * The processes that a wall has started and that are still running.
 *
 * @module
 */
import type { KillReason } from '../contract.ts';

interface Endable {
  kill(reason: KillReason): void;
}

export class RunningProcesses {
  /** Each with a promise that resolves when it is cleaned up. */
  readonly #running = new Map<Endable, Promise<unknown>>();

  add(process: Endable, gone: Promise<unknown>): void {
    this.#running.set(process, gone);
    const forget = (): boolean => this.#running.delete(process);
    gone.then(forget, forget);
  }

  /** Kills all of them; resolves when all are cleaned up. */
  async end(): Promise<void> {
    const all = [...this.#running.values()];
    for (const process of this.#running.keys()) process.kill('done');
    await Promise.all(all);
  }
}
