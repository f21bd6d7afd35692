/**
 * The capabilities that a call used or was denied: each act once, in a bounded list, with the total count. The first act
 * of each kind is always kept, so that a flood of harmless events cannot hide a sent secret or another host.
 *
 * @module
 */
import { hash } from 'node:crypto';
import type { CapabilityEvent, EventsCut } from '../../outcome.ts';

const MAX_EVENTS = 64;
/** Maximum number of first events per capability, in addition to the others. */
const MAX_FIRSTS = 64;
/** The same for first events by reason: a flood of invented hosts has only one reason. */
const MAX_REASONS = 32;
/** Number of acts that are deduplicated; beyond it, every act counts. */
const MAX_KNOWN = 16_384;
/** Room for the longest name of a secret and the longest name of a host. */
const MAX_TEXT = 400;

export class EventList {
  readonly kept: CapabilityEvent[] = [];
  readonly #most: number;
  readonly #known = new Set<string>();
  readonly #kinds = new Kinds();
  #count = 0;

  constructor(most: number = MAX_EVENTS) {
    this.#most = most;
  }

  /** Number of acts that are not in the list. */
  get cut(): number {
    return this.#count - this.kept.length;
  }

  add({ capability, asked, declared }: CapabilityEvent): void {
    const event = { capability, asked: asked.slice(0, MAX_TEXT), declared };
    // Compares the whole text, because different acts may have the same beginning.
    if (this.#isKnown(`${capability} ${asked}`)) return;
    this.#count++;
    const isFirst = this.#kinds.isFirst({ ...event, asked });
    if (isFirst || this.kept.length < this.#most) this.kept.push(event);
  }

  #isKnown(text: string): boolean {
    const act = hashOf(text);
    if (this.#known.has(act)) return true;
    if (this.#known.size < MAX_KNOWN) this.#known.add(act);
    return false;
  }
}

/** Returns the first `most` events and the first of each kind. */
export function firstEvents(events: readonly CapabilityEvent[], most: number): CapabilityEvent[] {
  const kinds = new Kinds();
  return events.filter((event, at) => kinds.isFirst(event) || at < most);
}

/** The kinds seen so far, by capability. */
class Kinds {
  readonly #seen = new Map<string, Set<string>>();

  isFirst(event: CapabilityEvent): boolean {
    const { capability } = event;
    const isNewKind = this.#isNew(capability, kindOf(event), MAX_FIRSTS);
    const isNewReason = this.#isNew(`${capability} for`, reasonOf(event), MAX_REASONS);
    return isNewKind || isNewReason;
  }

  #isNew(list: string, kind: string, most: number): boolean {
    const kinds = this.#seen.get(list) ?? new Set();
    this.#seen.set(list, kinds);
    if (kinds.has(kind) || kinds.size >= most) return false;
    kinds.add(kind);
    return true;
  }
}

/** Number of events that host and guest together left out. */
export function cutOf(
  hosts: readonly ({ cut?: EventsCut } | undefined)[],
  deniedInside: EventList,
): EventsCut {
  const sum = (list: 'used' | 'denied'): number =>
    hosts.reduce((sum, host) => sum + (host?.cut?.[list] ?? 0), 0);
  return { used: sum('used'), denied: sum('denied') + deniedInside.cut };
}

/** A secret with its destination, a server, or for other capabilities the verb. */
function kindOf({ capability, asked }: CapabilityEvent): string {
  if (capability === 'secret') return asked;
  if (capability !== 'network') return asked.split(' ', 1)[0] ?? '';
  return /[a-z]+:\/\/[^/]*/.exec(asked)?.[0] ?? asked;
}

/** A secret without its destination; otherwise the reason of the denial, without what the skill chose itself. */
function reasonOf({ capability, asked, declared }: CapabilityEvent): string {
  if (capability === 'secret') return asked.split(' ', 2).join(' ');
  return declared.replace(/".*"/s, '').replaceAll(/[^\s]*[\d.:][^\s]*/g, '');
}

/** A cryptographic hash, because a collision would let a harmless act hide another. */
function hashOf(text: string): string {
  return hash('sha256', text, 'base64');
}
