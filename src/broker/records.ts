/**
 * What the broker granted and denied to one call.
 *
 * @module
 */
import { EventList } from '../cell/protocol/event-list.ts';
import type { CapabilityEvent, EventsCut } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';

/** A recorded call keeps more events, because each is a possible permission. */
const MAX_OBSERVED = 4096;

export class Records {
  readonly #lists: Readonly<Record<'used' | 'denied', EventList>>;

  constructor({ observe }: Pick<Grant, 'observe'> = {}) {
    const list = (): EventList => (observe ? new EventList(MAX_OBSERVED) : new EventList());
    this.#lists = { used: list(), denied: list() };
  }

  get used(): CapabilityEvent[] {
    return this.#lists.used.kept;
  }

  get denied(): CapabilityEvent[] {
    return this.#lists.denied.kept;
  }

  get cut(): EventsCut {
    return { used: this.#lists.used.cut, denied: this.#lists.denied.cut };
  }

  note(list: 'used' | 'denied', event: CapabilityEvent): void {
    this.#lists[list].add(event);
  }
}

/** Passes on what was recorded. */
export abstract class Recorded {
  protected readonly records: Records;

  constructor(records: Records) {
    this.records = records;
  }

  get used(): CapabilityEvent[] {
    return this.records.used;
  }

  get denied(): CapabilityEvent[] {
    return this.records.denied;
  }

  get cut(): EventsCut {
    return this.records.cut;
  }
}
