/**
 * Decides whose cells end when there is no room for those of all skills: of the skill that is least likely to be called
 * soon, whose cells start again fastest, and take most memory.
 *
 * @module
 */

/** A use counts half after this time. */
const HALF_LIFE_MS = 5 * 60_000;
/** Memory is measured again after this time: measuring that of every skill for every call would hold up all calls. */
const WEIGHED_MS = 1000;
/** Longer starts count as this long: a skill decides itself how long its own code takes to load. */
const MAX_START_MS = 1000;

export interface Kept {
  /** Memory of its cells. */
  readonly bytes: number;
  /** Of that, what would be free at once without them: running calls end first. */
  readonly waitingBytes: number;
  /** Whether any of them waits. */
  readonly isWaiting: boolean;
  /** Milliseconds to start one again; undefined if none has started yet. */
  readonly startMs: number | undefined;
}

interface Entry<T> {
  value: T;
  /** Uses, each counting less the longer ago it was, as of the last one. */
  uses: number;
  usedAt: number;
  /** Its memory as measured lately. */
  weighed?: { bytes: number; at: number };
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

  get waitingBytes(): number {
    return this.values.reduce((sum, { waitingBytes }) => sum + waitingBytes, 0);
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

  /** The key of the one to give up, of those that help; never the one that was just used. */
  worst(helps: (value: T) => boolean = () => true): string | undefined {
    const entries = [...this.#entries];
    const latest = Math.max(...entries.map(([, { usedAt }]) => usedAt));
    const candidates = entries.filter(([, { usedAt, value }]) => usedAt < latest && helps(value));
    const values = candidates.map(([key, entry]) => ({
      key,
      worth: this.#worth(entry),
      usedAt: entry.usedAt,
    }));
    return values.toSorted((a, b) => a.worth - b.worth || a.usedAt - b.usedAt)[0]?.key;
  }

  #worth(entry: Entry<T>): number {
    const { startMs = 0 } = entry.value;
    const bytes = this.#bytesOf(entry);
    // Its cells have ended, so there is nothing to keep.
    if (bytes === 0) return 0;
    return (this.#usesOf(entry) * Math.min(startMs, MAX_START_MS)) / bytes;
  }

  #bytesOf(entry: Entry<T>): number {
    const now = this.#now();
    const { weighed } = entry;
    if (weighed && weighed.bytes > 0 && now - weighed.at < WEIGHED_MS) return weighed.bytes;
    entry.weighed = { bytes: entry.value.bytes, at: now };
    return entry.weighed.bytes;
  }

  #usesOf({ uses, usedAt }: Entry<T>): number {
    return uses * 2 ** ((usedAt - this.#now()) / HALF_LIFE_MS);
  }
}
