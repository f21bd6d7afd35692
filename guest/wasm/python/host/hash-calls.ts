/**
 * The only function that the engine can call besides its imports: a digest of bytes in its memory. It depends on nothing
 * else and keeps nothing.
 *
 * @module
 */
import { HOST_HASHES, MAX_BYTES } from '../engine/hash-functions.ts';
import type { GuestMemory } from '../../imaged/guest-memory.ts';

/* oxlint-disable max-params -- the engine passes them one by one */
/** `(algorithm, data, length, digest)` */
export type HashCall = (algorithm: number, from: number, length: number, into: number) => void;

export function hashCall(memory: GuestMemory): HashCall {
  return (number, from, length, into) => {
    const algorithm = HOST_HASHES[number];
    // It cannot be interrupted, so it must be short.
    if (algorithm === undefined || length >>> 0 > MAX_BYTES)
      throw new RangeError('The state of a hash is not valid');
    memory.setDigest(into, algorithm, from, length);
  };
}
