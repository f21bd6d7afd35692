/**
 * The calls in progress and their listeners. An event without listeners costs nothing.
 *
 * @module
 */
import type { CallEvent, CallEventName, CallListener, RunningCall } from './events.ts';
import { notify } from './notify.ts';
import { LiveCall, type CallFacts, type EventSink } from './live-call.ts';

export class Calls {
  readonly #running = new Set<LiveCall>();
  readonly #listeners = new Map<CallEventName, Set<CallListener>>();
  readonly #sink: EventSink = {
    hasListener: (name) => this.#listeners.has(name),
    emit: (event) => this.#emitAll(event),
  };
  readonly #leave = (call: LiveCall): void => {
    this.#running.delete(call);
  };

  /** Emits no event until the call is accepted. The call must `leave` when it is over. */
  open(facts: CallFacts): LiveCall {
    const call = new LiveCall(facts, this.#sink, this.#leave);
    this.#running.add(call);
    return call;
  }

  /** Oldest first. */
  get running(): RunningCall[] {
    return [...this.#running];
  }

  /** The returned function removes the listener. */
  on<Name extends CallEventName>(name: Name, listener: CallListener<Name>): () => void {
    // Wrapped, so that a listener that was added twice can be removed once.
    const own: CallListener = (event) => (listener as CallListener)(event);
    this.#listeners.set(name, (this.#listeners.get(name) ?? new Set()).add(own));
    return () => {
      const listeners = this.#listeners.get(name);
      if (listeners?.delete(own) && listeners.size === 0) this.#listeners.delete(name);
    };
  }

  #emitAll(event: CallEvent): void {
    for (const listener of this.#listeners.get(event.type) ?? []) notify(listener, event);
  }
}
