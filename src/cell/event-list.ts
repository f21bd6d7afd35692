/**
 * What a call has used, or was denied: each act once, a bounded number of them, and how many there were. The first of its
 * kind is always kept, so that no flood of harmless events hides a secret that was sent or another host.
 *
 * @module
 */
import type { CapabilityEvent, EventsCut } from '../outcome.ts';

const MOST_EVENTS = 64;
/** Of first events, for each capability, beyond the others. */
const MOST_FIRSTS = 64;
/** Acts that are known again. From there on each one counts. */
const MOST_KNOWN = 16_384;
const MAX_TEXT = 300;

export class EventList {
  readonly kept: CapabilityEvent[] = [];
  readonly #most: number;
  readonly #known = new Set<number>();
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
    if (this.#isKnown(`${capability} ${event.asked}`)) return;
    this.#count++;
    const isFirst = this.#kinds.isFirst(event);
    if (isFirst || this.kept.length < this.#most) this.kept.push(event);
  }

  #isKnown(text: string): boolean {
    const hash = hashOf(text);
    if (this.#known.has(hash)) return true;
    if (this.#known.size < MOST_KNOWN) this.#known.add(hash);
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

/** 53 bits: so many acts do not meet in it by chance, and who makes two meet has hidden one of his own. */
function hashOf(text: string): number {
  let [low, high] = [0x811c_9dc5, 0x9e37_79b9];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x0100_0193);
    high = Math.imul(high ^ code, 0x85eb_ca6b) + low;
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
