/**
 * Random numbers derived from a seed, and byte mutations that all targets share.
 *
 * @module
 */

/** An integer from 0 up to, but not including, `below`. */
export type Random = (below: number) => number;

/** A small generator with a good distribution (mulberry32): the same numbers on every machine. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return below === 0 ? 0 : ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

/** One of the values; the list must not be empty. */
export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T;
}

export interface MutationWords {
  /** Bytes that are special to the decoder. */
  bytes: readonly number[];
  /** Byte sequences that replace others, such as the largest number of the format. */
  runs: readonly (readonly number[])[];
}

export interface MutationOptions extends MutationWords {
  corpus: readonly Uint8Array[];
  seed: number;
}

/** One file of the corpus, changed in one to four places. */
export function mutant({ corpus, seed, ...words }: MutationOptions): Uint8Array {
  const random = randomOf(seed);
  // A copy: `slice` of a Buffer is the same memory, and every mutation would stay in the corpus.
  let bytes: Uint8Array = new Uint8Array(pick(random, corpus));
  for (let count = 1 + random(4); count > 0; count--) bytes = mutateOnce(bytes, { random, corpus, ...words });
  return bytes;
}

interface MutationTools extends MutationWords {
  random: Random;
  corpus: readonly Uint8Array[];
}

function mutateOnce(bytes: Uint8Array, tools: MutationTools): Uint8Array {
  const { random, corpus } = tools;
  const at = random(bytes.length);
  const kind = random(12);
  if (kind < 4) return overwrite(bytes, at, [pick(random, tools.bytes)]);
  if (kind < 6) return overwrite(bytes, at, [(bytes[at] ?? 0) ^ (1 << random(8))]);
  if (kind < 7) return overwrite(bytes, at, [((bytes[at] ?? 0) + 1) & 0xff]);
  if (kind < 8) return overwrite(bytes, at, pick(random, tools.runs));
  const length = 1 + random(16);
  if (kind < 9) return join(bytes.subarray(0, at), bytes.subarray(at + length));
  if (kind < 10) return join(bytes.subarray(0, at + length), bytes.subarray(at));
  if (kind < 11) return bytes.slice(0, at);
  const other = pick(random, corpus);
  return overwrite(bytes, at, [...other.subarray(random(other.length)).subarray(0, length)]);
}

function overwrite(bytes: Uint8Array, at: number, values: readonly number[]): Uint8Array {
  bytes.set(values.slice(0, Math.max(0, bytes.length - at)), at);
  return bytes;
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
