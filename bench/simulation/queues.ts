/**
 * First in, first out, without moving what is behind.
 *
 * @module
 */

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  get items(): T[] {
    return this.#items.slice(this.#head).flatMap((item) => (item === undefined ? [] : [item]));
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(at = 0): T | undefined {
    return this.#items[this.#head + at];
  }

  /** Takes the item at that place; the ones before it move back by one. */
  take(at = 0): T | undefined {
    const item = this.peek(at);
    for (let place = this.#head + at; place > this.#head; place--)
      this.#items[place] = this.#items[place - 1];
    if (this.size > 0) this.#items[this.#head++] = undefined;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

/** Skills that are warm on one worker: the one that was not used for the longest time goes first. */
export class WarmSkills {
  readonly #skills = new Set<number>();
  readonly #places: number;

  constructor(places: number) {
    this.#places = places;
  }

  has(skill: number): boolean {
    return this.#skills.has(skill);
  }

  /** Returns the skill that had to go. */
  use(skill: number): number | undefined {
    this.#skills.delete(skill);
    this.#skills.add(skill);
    if (this.#skills.size <= this.#places) return undefined;
    const [oldest] = this.#skills;
    if (oldest !== undefined) this.#skills.delete(oldest);
    return oldest;
  }
}
