/**
 * Decides whose cells end when there is no room for those of all skills: of the skill that is least likely to be called
 * soon, whose cells start again fastest, and take most memory.
 *
 * @module
 */

/** A use counts half after this time. */
const HALF_LIFE_MS = 5 * 60_000;

export interface Kept {
  /** Memory of its cells. */
  readonly bytes: number;
  /** Milliseconds to start one again; undefined if none has started yet. */
  readonly startMs: number | undefined;
}

interface Entry<T> {
  value: T;
  /** Uses, each counting less the longer ago it was, as of the last one. */
  uses: number;
  usedAt: number;
}

export class Keeper<T extends Kept> {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get values(): T[] {
    return [...this.#entries.values()].map(({ value }) => value);
  }

  get bytes(): number {
    return this.values.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: T): void {
    this.#entries.set(key, { value, uses: 0, usedAt: this.#now() });
  }

  use(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.uses = this.#usesOf(entry) + 1;
    entry.usedAt = this.#now();
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** The key of the one to give up; never the one that was just used. */
  worst(): string | undefined {
    const entries = [...this.#entries];
    const latest = Math.max(...entries.map(([, { usedAt }]) => usedAt));
    const candidates = entries.filter(([, { usedAt }]) => usedAt < latest);
    const values = candidates.map(([key, entry]) => ({ key, worth: this.#worth(entry) }));
    return values.toSorted((a, b) => a.worth - b.worth)[0]?.key;
  }

  #worth(entry: Entry<T>): number {
    const { bytes, startMs = 0 } = entry.value;
    return (this.#usesOf(entry) * startMs) / Math.max(1, bytes);
  }

  #usesOf({ uses, usedAt }: Entry<T>): number {
    return uses * 2 ** ((usedAt - this.#now()) / HALF_LIFE_MS);
  }
}
