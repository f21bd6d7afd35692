/**
 * The running calls of this service with all their events, so that a late watcher sees them from the start. All watchers
 * read from the same list, so a slow one costs no memory.
 *
 * @module
 */
import type { CallEvent, CapabilityEvent, Execution, HostFolders, Outcome } from '../inside.ts';
import type { ErrorCode } from '../vocabulary/error-codes.ts';
import type { OutputStream } from '../vocabulary/streams.ts';

/** The events of a call; `done` is the last. */
export type LiveEvent =
  | { type: 'accepted'; call_id: string }
  | { type: 'started'; execution: Pick<Execution, 'mode' | 'wall' | 'engine'> }
  | { type: 'log'; text: string; stream?: OutputStream }
  | { type: 'denied'; denial: CapabilityEvent }
  | { type: 'inner'; inner: InnerEvent }
  | { type: 'done'; outcome: Outcome };

/** A call inside a program began, or ended with a code. */
export interface InnerEvent {
  call_id: string;
  parent: string;
  depth: number;
  /** By its id, never by a folder. */
  skill: string;
  /** Absent: it began. */
  code?: ErrorCode | 'ok';
  wall_ms?: number;
}

/** Later calls inside are only in the outcome, so that they leave room for other events. */
const MAX_INNER = 4000;
/** Many small events cost more memory than their text, which the cell already limits. */
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
  readonly #late = new Map<OutputStream | undefined, string[]>();
  #changed = Promise.withResolvers<void>();
  #hasEnded = false;
  #inner = 0;
  /** For its caller, from its `done` event. */
  #outcome: Outcome | undefined;
  id = '';
  state: 'waiting' | 'running' = 'waiting';

  constructor(facts: LiveCallFacts) {
    this.facts = facts;
  }

  /** Aborted when the call is cancelled. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  cancel(): void {
    this.#controller.abort();
  }

  /** Cancels the call when the signal is aborted. Much cheaper than a signal of both. */
  cancelWith(signal: AbortSignal): void {
    if (signal.aborted) this.cancel();
    else signal.addEventListener('abort', () => this.cancel(), { once: true });
  }

  record(event: LiveEvent): void {
    if (event.type === 'started') this.state = 'running';
    if (event.type === 'done') this.#outcome = event.outcome;
    if (event.type === 'done') this.#events.push(...this.#takeLate(), event);
    else if (this.#events.length < MAX_EVENTS) this.#events.push(event);
    else if (event.type === 'log') this.#addLate(event);
    this.#notify();
  }

  /** Tells of a call inside: what it is, and how it ended. Its result is for the program only. */
  recordInner(event: CallEvent): void {
    const { lineage } = event.call;
    if (!lineage || (event.type !== 'started' && event.type !== 'done') || ++this.#inner > MAX_INNER) return;
    const { parent, depth } = lineage;
    const about = { call_id: event.call.id, parent, depth };
    if (event.type === 'started') {
      this.record({ type: 'inner', inner: { ...about, skill: event.skill.name } });
      return;
    }
    const { outcome } = event;
    const ended = { code: outcome.ok ? ('ok' as const) : outcome.error.code, wall_ms: outcome.usage.wall_ms };
    this.record({ type: 'inner', inner: { ...about, skill: outcome.skill.name, ...ended } });
  }

  /** Output is never dropped: beyond the limit, it waits for the end and is one event per stream. */
  #addLate({ text, stream }: LiveEvent & { type: 'log' }): void {
    const texts = this.#late.get(stream) ?? [];
    this.#late.set(stream, texts);
    texts.push(text);
  }

  #takeLate(): LiveEvent[] {
    const late = [...this.#late].map(([stream, texts]) => logEvent(texts.join(''), stream));
    this.#late.clear();
    return late;
  }

  end(): void {
    this.#hasEnded = true;
    this.#notify();
  }

  /** All events from the start of the call to its end. */
  async *follow(): AsyncGenerator<LiveEvent> {
    for (let at = 0; ;) {
      const event = this.#events[at];
      if (event) {
        at++;
        yield event;
      } else if (this.#hasEnded) return;
      else await this.#changed.promise;
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

export class LiveCalls {
  readonly #calls = new Map<string, WatchedCall>();

  get all(): WatchedCall[] {
    return [...this.#calls.values()];
  }

  find(id: string): WatchedCall | undefined {
    return this.#calls.get(id);
  }

  /** Records the events of a call until it ends, without the folders of this machine. */
  listenerFor(call: WatchedCall, folders: HostFolders): (event: CallEvent) => void {
    return (event) => {
      if (event.type === 'accepted') {
        call.id = event.call.id;
        this.#calls.set(call.id, call);
      }
      const live = liveEvent(event, folders);
      if (live) call.record(live);
      if (event.type !== 'done') return;
      this.#calls.delete(call.id);
      call.end();
    };
  }

  cancelAll(): void {
    for (const call of this.all) call.cancel();
  }
}

function logEvent(text: string, stream: OutputStream | undefined): LiveEvent {
  return stream ? { type: 'log', text, stream } : { type: 'log', text };
}

/** The public part of an event, without folders of this machine. */
function liveEvent(event: CallEvent, folders: HostFolders): LiveEvent | undefined {
  switch (event.type) {
    case 'accepted':
      return { type: 'accepted', call_id: event.call.id };
    case 'started':
      return { type: 'started', execution: event.execution };
    case 'log':
      return logEvent(event.text, event.stream);
    case 'denied':
      return { type: 'denied', denial: folders.denial(event.denial) };
    case 'done':
      return { type: 'done', outcome: folders.outcome(event.outcome) };
    default:
      return undefined;
  }
}
