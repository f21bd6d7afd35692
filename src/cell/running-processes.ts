/**
 * The processes that a wall has started and that are not gone yet.
 *
 * @module
 */
import type { KillReason } from './contract.ts';

interface Endable {
  kill(reason: KillReason): void;
}

export class RunningProcesses {
  /** With what resolves when nothing is left of it. */
  readonly #running = new Map<Endable, Promise<unknown>>();

  add(process: Endable, gone: Promise<unknown>): void {
    this.#running.set(process, gone);
    const forget = (): boolean => this.#running.delete(process);
    gone.then(forget, forget);
  }

  /** Ends all of them; resolves when nothing is left of any. */
  async end(): Promise<void> {
    const all = [...this.#running.values()];
    for (const process of this.#running.keys()) process.kill('done');
    await Promise.all(all);
  }
}
