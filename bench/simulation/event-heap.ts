/**
 * A binary heap of events by time. Events of the same time leave in the order in which they came, so runs are repeatable.
 *
 * @module
 */

interface Entry<T> {
  at: number;
  order: number;
  event: T;
}

export class EventHeap<T> {
  readonly #entries: Entry<T>[] = [];
  #next = 0;

  /** The time of the first event; infinite without any. */
  get nextAt(): number {
    return this.#entries[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** In no order. */
  get events(): T[] {
    return this.#entries.map(({ event }) => event);
  }

  push(at: number, event: T): void {
    const entry = { at, order: this.#next++, event };
    let place = this.#entries.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#entries[above];
      if (!parent || isBefore(parent, entry)) break;
      this.#entries[place] = parent;
      place = above;
    }
    this.#entries[place] = entry;
  }

  pop(): { at: number; event: T } | undefined {
    const first = this.#entries[0];
    const last = this.#entries.pop();
    if (last && this.#entries.length > 0) this.#sink(last);
    return first;
  }

  #sink(entry: Entry<T>): void {
    let place = 0;
    for (;;) {
      const left = this.#entries[2 * place + 1];
      const right = this.#entries[2 * place + 2];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (!child || isBefore(entry, child)) break;
      this.#entries[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    this.#entries[place] = entry;
  }
}

function isBefore<T>(one: Entry<T>, other: Entry<T>): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
