/**
 * What a call has used and what it was denied, as the broker sees it.
 *
 * @module
 */
import { EventList } from '../cell/event-list.ts';
import type { CapabilityEvent, EventsCut } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';

/** Where the needs of a skill are recorded, every one of them counts. */
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
