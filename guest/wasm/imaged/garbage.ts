/**
 * Memories that no call uses any more. V8 does not count them towards its heap, so they would pile up until the process
 * is killed for them, in the middle of an innocent call.
 *
 * @module
 */

/** Far below what a process may have in addition to the memory of one call. */
const MAX_GARBAGE_BYTES = 32 * 1024 * 1024;

/** Frees unreferenced memory before it returns. */
export type Collect = () => void;

export class Garbage {
  readonly #collect: Collect;
  #bytes = 0;

  constructor(collect: Collect) {
    this.#collect = collect;
  }

  /** Counts a memory of `bytes` that was released. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Called before another memory is created. The caller must not hold what was released, not even in a local variable. */
  clear(): void {
    if (this.#bytes < MAX_GARBAGE_BYTES) return;
    this.#bytes = 0;
    this.#collect();
  }
}

/** Cell processes are started with the flag that allows this. */
export function collectNow(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

/** Frees the memory of an array that nothing uses any more, without waiting for a collection. */
export function release({ buffer, byteLength }: Uint8Array): void {
  // A smaller array is part of a buffer that others use.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
