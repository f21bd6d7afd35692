/**
 * What a call has used and what it was denied, each once and only so much of it.
 *
 * @module
 */
import type { CapabilityEvent } from '../outcome.ts';

const MAX_EVENTS = 64;
const MAX_TEXT = 300;

export class Records {
  readonly used: CapabilityEvent[] = [];
  readonly denied: CapabilityEvent[] = [];

  note(list: 'used' | 'denied', { capability, asked, declared }: CapabilityEvent): void {
    const events = this[list];
    const text = asked.slice(0, MAX_TEXT);
    const isKnown = events.some((event) => event.asked === text && event.capability === capability);
    if (!isKnown && events.length < MAX_EVENTS) events.push({ capability, asked: text, declared });
  }
}
