/**
 * The calls that this service is making, with what they have told so far: whoever comes later sees it from the
 * beginning. A slow reader costs no memory, because everybody reads from the same list.
 *
 * @module
 */
import type { CallEvent, CapabilityEvent, Execution, HostFolders, Outcome } from '../index.ts';

/** What a watcher is told, in this order; `done` is the last. */
export type LiveEvent =
  | { type: 'accepted'; call_id: string }
  | { type: 'started'; execution: Pick<Execution, 'mode' | 'wall' | 'engine'> }
  | { type: 'log'; text: string }
  | { type: 'denied'; denial: CapabilityEvent }
  | { type: 'done'; outcome: Outcome };

/** Small pieces add up to more than the text that they carry; printing them is capped by the cell already. */
const MAX_EVENTS = 10_000;

export interface LiveCallFacts {
  skill: string;
  tenant: string;
  caller: string;
}

export class WatchedCall {
  readonly facts: LiveCallFacts;
  readonly startedAt: Date = new Date();
  readonly #controller = new AbortController();
  readonly #events: LiveEvent[] = [];
  #changed = Promise.withResolvers<void>();
  #isOver = false;
  id = '';
  state: 'waiting' | 'running' = 'waiting';

  constructor(facts: LiveCallFacts) {
    this.facts = facts;
  }

  /** Aborted when somebody cancels the call. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  cancel(): void {
    this.#controller.abort();
  }

  note(event: LiveEvent): void {
    if (event.type === 'started') this.state = 'running';
    if (this.#events.length < MAX_EVENTS || event.type === 'done') this.#events.push(event);
    this.#tell();
  }

  end(): void {
    this.#isOver = true;
    this.#tell();
  }

  /** Everything that it has told, then everything that it tells, to the end. */
  async *follow(): AsyncGenerator<LiveEvent> {
    for (let at = 0; ;) {
      const event = this.#events[at];
      if (event) {
        at++;
        yield event;
      } else if (this.#isOver) return;
      else await this.#changed.promise;
    }
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

export class LiveCalls {
  readonly #calls = new Map<string, WatchedCall>();
  readonly #folders: HostFolders;

  constructor(folders: HostFolders) {
    this.#folders = folders;
  }

  get all(): WatchedCall[] {
    return [...this.#calls.values()];
  }

  find(id: string): WatchedCall | undefined {
    return this.#calls.get(id);
  }

  /** Takes the events of a call for as long as it lasts. */
  listenerFor(call: WatchedCall): (event: CallEvent) => void {
    return (event) => {
      if (event.type === 'accepted') {
        call.id = event.call.id;
        this.#calls.set(call.id, call);
      }
      const told = liveEvent(event, this.#folders);
      if (told) call.note(told);
      if (event.type !== 'done') return;
      this.#calls.delete(call.id);
      call.end();
    };
  }

  cancelAll(): void {
    for (const call of this.all) call.cancel();
  }
}

/** What watchers get of an event. */
function liveEvent(event: CallEvent, folders: HostFolders): LiveEvent | undefined {
  switch (event.type) {
    case 'accepted':
      return { type: 'accepted', call_id: event.call.id };
    case 'started':
      return { type: 'started', execution: event.execution };
    case 'log':
      return { type: 'log', text: event.text };
    case 'denied':
      return { type: 'denied', denial: folders.denial(event.denial) };
    case 'done':
      return { type: 'done', outcome: folders.outcome(event.outcome) };
    default:
      return undefined;
  }
}
