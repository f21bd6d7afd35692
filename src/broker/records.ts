/**
 * What a call has used and what it was denied, each once and only so much of it.
 *
 * @module
 */
import type { CapabilityEvent } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';

const MAX_EVENTS = 64;
/** Where the needs of a skill are recorded, every one of them counts. */
const MAX_OBSERVED = 4096;
const MAX_TEXT = 300;

export class Records {
  readonly used: CapabilityEvent[] = [];
  readonly denied: CapabilityEvent[] = [];
  readonly #most: number;

  constructor({ observe }: Pick<Grant, 'observe'> = {}) {
    this.#most = observe ? MAX_OBSERVED : MAX_EVENTS;
  }

  note(list: 'used' | 'denied', { capability, asked, declared }: CapabilityEvent): void {
    const events = this[list];
    const text = asked.slice(0, MAX_TEXT);
    const isKnown = events.some((event) => event.asked === text && event.capability === capability);
    if (!isKnown && events.length < this.#most) events.push({ capability, asked: text, declared });
  }
}
