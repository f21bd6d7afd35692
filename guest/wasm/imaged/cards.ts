/**
 * Which parts of a guest's memory were written since its image was restored, so that only those are restored. The engine was
 * rewritten: before every store it marks the place in a second memory, which none of its own instructions can name. The
 * import layer marks what it writes. docs/security/wasm-cards.md says why nothing is missed.
 *
 * @module
 */
import { layImage, readPart, type StoredBytes } from './memory.ts';

/** One mark is one byte, for one card. The rewriter shifts addresses by as many bits. */
export const CARD_BITS = 12;
const CARD_BYTES = 1 << CARD_BITS;
const WASM_PAGE_BYTES = 65_536;
/** With one page less than 4 GiB, no sum of an address and a length inside the memory exceeds 32 bits. */
const MAX_PAGES = 65_535;
/** In case a mark is ever missed, no byte survives for longer than this many calls. */
const CALLS_PER_FULL_COPY = 256;
const WORD_CARDS = 8;

export interface CardsOptions {
  /** Maximum size of the guest's memory. */
  maxPages: number;
  /** Whether everything that writes to the memory marks it. If not, all of it is restored each time. */
  isComplete: boolean;
}

export class Cards {
  /** The second memory. Its size is fixed. */
  readonly memory: WebAssembly.Memory;
  readonly #isComplete: boolean;
  readonly #marks: Uint8Array;
  readonly #words: BigUint64Array;
  /** What the memory contained when all marks were cleared. */
  #restored: Uint8Array | StoredBytes | undefined;
  #calls = 0;

  constructor({ maxPages, isComplete }: CardsOptions) {
    // A store marks its card and the next one.
    const bytes = (maxPages * WASM_PAGE_BYTES) / CARD_BYTES + 2;
    const pages = Math.ceil(bytes / WASM_PAGE_BYTES);
    this.memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    this.#marks = new Uint8Array(this.memory.buffer);
    this.#words = new BigUint64Array(this.memory.buffer);
    this.#isComplete = isComplete && maxPages <= MAX_PAGES;
  }

  /** Marks bytes that the host is about to write. */
  mark(start: number, length: number): void {
    const first = start >>> CARD_BITS;
    const last = (start + length) >>> CARD_BITS;
    // Most writes are small, and for them this is faster than `fill`.
    if (last - first <= 1) this.#marks[first] = this.#marks[last] = 1;
    else this.#marks.fill(1, first, last + 1);
  }

  /** Gives the memory the content of the image, which must never change. */
  restore(memory: Uint8Array, image: Uint8Array | StoredBytes): void {
    // Such as one that was detached by growth: its cards would be skipped.
    if (memory.length < image.length) throw new RangeError('The memory is smaller than its image');
    this.#calls++;
    if (this.#isComplete && this.#restored === image && this.#calls < CALLS_PER_FULL_COPY)
      this.#restoreMarked(memory, image);
    else this.#restoreAll(memory, image);
    this.#marks.fill(0);
  }

  #restoreAll(memory: Uint8Array, image: Uint8Array | StoredBytes): void {
    // If this is interrupted, the marks say nothing about either image.
    this.#restored = undefined;
    layImage(memory, image);
    this.#restored = image;
    this.#calls = 0;
  }

  #restoreMarked(memory: Uint8Array, image: Uint8Array | StoredBytes): void {
    const words = this.#words;
    for (let word = 0; word < words.length; word++) {
      if (words[word] === 0n) continue;
      for (let card = word * WORD_CARDS; card < (word + 1) * WORD_CARDS; card++)
        if (this.#marks[card] !== 0) restoreCard(memory, image, card * CARD_BYTES);
    }
  }
}

/** What is behind the image was unused when it was taken, so it is zero. */
function restoreCard(memory: Uint8Array, image: Uint8Array | StoredBytes, start: number): void {
  const end = Math.min(start + CARD_BYTES, memory.length);
  const imageEnd = Math.max(start, Math.min(end, image.length));
  if (start >= memory.length) return;
  if (start < imageEnd) readPart(image, memory.subarray(start, imageEnd), start);
  memory.fill(0, imageEnd, end);
}
