/**
 * Random numbers. Math.random is seeded again for every call: the engine's own state is part of its image, and would be
 * the same in all of them.
 *
 * @module
 */
import { bytesOf } from './encoding.ts';
import { host } from './host.ts';

/** The limit of the web API. */
const MOST_AT_ONCE = 65_536;
const POOL_NUMBERS = 128;

let pool = new Uint32Array(0);
let used = 0;

/** Numbers that were drawn are never returned again. */
export function forgetRandom(): void {
  pool = new Uint32Array(0);
  used = 0;
}

function next(): number {
  if (used >= pool.length) {
    pool = new Uint32Array(host.random(POOL_NUMBERS * 4).buffer as ArrayBuffer);
    used = 0;
  }
  return pool[used++] as number;
}

/** 53 random bits, the precision of a number between 0 and 1. */
export function random(): number {
  return ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

type IntegerArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array;

export const crypto: { getRandomValues: <T extends IntegerArray>(array: T) => T; randomUUID: () => string } =
  {
    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || array instanceof DataView || isFloat(array))
        throw new TypeError('getRandomValues needs an array of integers');
      if (array.byteLength > MOST_AT_ONCE)
        throw new DOMException(
          `At most ${MOST_AT_ONCE} bytes can be requested per call`,
          'QuotaExceededError',
        );
      bytesOf(array).set(host.random(array.byteLength));
      return array;
    },
    randomUUID() {
      const bytes = host.random(16);
      bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
      bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
        '-',
      );
    },
  };

function isFloat(array: unknown): boolean {
  return array instanceof Float32Array || array instanceof Float64Array;
}
