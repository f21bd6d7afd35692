/**
 * What a call has used, or was denied: each act once, a bounded number of them, and how many there were. The first of its
 * kind is always kept, so that no flood of harmless events hides a secret that was sent or another host.
 *
 * @module
 */
import { hash } from 'node:crypto';
import type { CapabilityEvent, EventsCut } from '../outcome.ts';

const MOST_EVENTS = 64;
/** Of first events, for each capability, beyond the others. */
const MOST_FIRSTS = 64;
/** Acts that are known again. From there on each one counts. */
const MOST_KNOWN = 16_384;
/** Room for the longest name of a secret and the longest name of a host. */
const MAX_TEXT = 400;

export class EventList {
  readonly kept: CapabilityEvent[] = [];
  readonly #most: number;
  readonly #known = new Set<string>();
  readonly #kinds = new Kinds();
  #count = 0;

  constructor(most: number = MOST_EVENTS) {
    this.#most = most;
  }

  /** How many acts were left out of the list. */
  get cut(): number {
    return this.#count - this.kept.length;
  }

  add({ capability, asked, declared }: CapabilityEvent): void {
    const event = { capability, asked: asked.slice(0, MAX_TEXT), declared };
    // By the whole text: acts that begin alike are not the same.
    if (this.#isKnown(`${capability} ${asked}`)) return;
    this.#count++;
    const isFirst = this.#kinds.isFirst({ ...event, asked });
    if (isFirst || this.kept.length < this.#most) this.kept.push(event);
  }

  #isKnown(text: string): boolean {
    const act = hashOf(text);
    if (this.#known.has(act)) return true;
    if (this.#known.size < MOST_KNOWN) this.#known.add(act);
    return false;
  }
}

/** So many events, and the first of each kind. */
export function firstEvents(events: readonly CapabilityEvent[], most: number): CapabilityEvent[] {
  const kinds = new Kinds();
  return events.filter((event, at) => kinds.isFirst(event) || at < most);
}

/** Kinds that were seen, by capability. */
class Kinds {
  readonly #seen = new Map<string, Set<string>>();

  isFirst(event: CapabilityEvent): boolean {
    const kinds = this.#seen.get(event.capability) ?? new Set();
    this.#seen.set(event.capability, kinds);
    const kind = kindOf(event);
    if (kinds.has(kind) || kinds.size >= MOST_FIRSTS) return false;
    kinds.add(kind);
    return true;
  }
}

/** Of what host and guest saw together. */
export function cutOf(host: { cut?: EventsCut } | undefined, deniedInside: EventList): EventsCut {
  const { used = 0, denied = 0 } = host?.cut ?? {};
  return { used, denied: denied + deniedInside.cut };
}

/** Each secret and whom it was for, each server, and what was to be done with files, processes and the rest. */
function kindOf({ capability, asked }: CapabilityEvent): string {
  if (capability === 'secret') return asked;
  if (capability !== 'network') return asked.split(' ', 1)[0] ?? '';
  return /[a-z]+:\/\/[^/]*/.exec(asked)?.[0] ?? asked;
}

/** Strong: whoever could make two acts meet would have a harmless one hide another. */
function hashOf(text: string): string {
  return hash('sha256', text, 'base64');
}
