/**
 * Memories that no call uses any more. V8 does not count them towards its heap, so it would let them pile up until the
 * process is ended for them, in the middle of a call that did nothing wrong.
 *
 * @module
 */

/** Far below what a process may have beside the memory of one call. */
const MAX_GARBAGE_BYTES = 32 * 1024 * 1024;

/** Gives memory back that nobody refers to any more, before it returns. */
export type Collect = () => void;

export class Garbage {
  readonly #collect: Collect;
  #bytes = 0;

  constructor(collect: Collect) {
    this.#collect = collect;
  }

  /** A memory of so many bytes was let go of. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Before another memory is made. Whoever calls it must not hold what was let go of, not even in a local variable. */
  clear(): void {
    if (this.#bytes < MAX_GARBAGE_BYTES) return;
    this.#bytes = 0;
    this.#collect();
  }
}

/** Processes of cells are started with the flag that makes it possible to ask for it. */
export function collectNow(): void {
  (globalThis as { gc?: () => void }).gc?.();
}
