/**
 * The calls that are running, and those who listen to them. Where nobody listens, nothing is done for them.
 *
 * @module
 */
import type { CallEvent, CallEventName, CallListener, RunningCall } from './events.ts';
import { hear } from './hear.ts';
import { LiveCall, type CallFacts, type Tell } from './live-call.ts';

export class Calls {
  readonly #running = new Set<LiveCall>();
  readonly #listeners = new Map<CallEventName, Set<CallListener>>();
  readonly #tell: Tell = {
    hears: (name) => this.#listeners.has(name),
    tell: (event) => this.#tellAll(event),
  };
  readonly #leave = (call: LiveCall): void => {
    this.#running.delete(call);
  };

  /** Nobody is told of it until it is accepted. It has to leave when the call is over. */
  open(facts: CallFacts): LiveCall {
    const call = new LiveCall(facts, this.#tell, this.#leave);
    this.#running.add(call);
    return call;
  }

  /** In the order in which they were made. */
  get running(): RunningCall[] {
    return [...this.#running];
  }

  /** The returned function ends it. */
  on<Name extends CallEventName>(name: Name, listener: CallListener<Name>): () => void {
    // A function of its own, so that one listener may be given twice and taken away once.
    const own: CallListener = (event) => (listener as CallListener)(event);
    this.#listeners.set(name, (this.#listeners.get(name) ?? new Set()).add(own));
    return () => {
      const listeners = this.#listeners.get(name);
      if (listeners?.delete(own) && listeners.size === 0) this.#listeners.delete(name);
    };
  }

  #tellAll(event: CallEvent): void {
    for (const listener of this.#listeners.get(event.type) ?? []) hear(listener, event);
  }
}
