/**
 * The only function that the engine can call besides its imports: a digest of bytes in its memory. It depends on nothing
 * else.
 *
 * @module
 */
import { HOST_HASHES, MAX_BYTES } from '../engine/hash-table.ts';
import type { GuestMemory } from '../../imaged/guest-memory.ts';

/** Loading Node's library takes about as long as the engine takes to hash this much. */
const WORTH_LOADING_BYTES = 4 * 1024 * 1024;

type HashCall = (number: number, from: number, length: number, into: number) => 0 | 1;

export class HashCalls {
  readonly #memory: GuestMemory;
  /** What this call could have had hashed here. Not what all calls had: the next one could time when the library is loaded. */
  #declined = 0;
  #isLoaded = false;

  constructor(memory: GuestMemory) {
    this.#memory = memory;
  }

  /** Begins another call. */
  reset(): void {
    this.#declined = 0;
  }

  /** A field, because the engine calls it without an object. */
  // oxlint-disable-next-line max-params -- the engine passes them one by one
  readonly hash: HashCall = (number, from, length, into) => {
    const algorithm = HOST_HASHES[number];
    // It cannot be interrupted, so it must be short.
    if (algorithm === undefined || length >>> 0 > MAX_BYTES)
      throw new RangeError('The state of a hash is not valid');
    if (!this.#isLoaded && !this.#loads(length)) return 0;
    this.#memory.setDigest(into, algorithm, from, length);
    return 1;
  };

  #loads(length: number): boolean {
    this.#declined += length;
    this.#isLoaded = this.#declined >= WORTH_LOADING_BYTES;
    return this.#isLoaded;
  }
}
