/**
 * Ids of calls: 26 characters that sort in the order of the calls (the ULID layout: 48 bits of time,
 * 80 random bits, Crockford's alphabet).
 *
 * @module
 */
import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;
const RANDOM_SPACE = 1n << 80n;
const STEP_MASK = 0xffff_ffffn;
/** 64-bit words per request for random bytes; one request per id would dominate its cost. */
const BATCH_WORDS = 128;

export interface CallIdOptions {
  now?: () => number;
  /** 80 random bits. */
  random?: () => bigint;
}

/** Creates a generator of ids. Each id is greater than the one before, even if the clock goes back. */
export function createCallIds(options: CallIdOptions = {}): () => string {
  const { now = Date.now, random = randomSource() } = options;
  let time = 0;
  let tail = 0n;
  return () => {
    const current = now();
    if (current > time) {
      time = current;
      tail = random();
    } else {
      // A random step, because consecutive ids would reveal how many calls others made in between.
      tail += 1n + (random() & STEP_MASK);
    }
    if (tail >= RANDOM_SPACE) {
      time += 1;
      tail = 0n;
    }
    return encode(BigInt(time), TIME_LENGTH) + encode(tail, RANDOM_LENGTH);
  };
}

/** The lower bound for ids of calls that began at this time or later. */
export function earliestCallId(time: Date): string {
  return encode(BigInt(time.getTime()), TIME_LENGTH) + encode(0n, RANDOM_LENGTH);
}

/** 80 random bits at a time. */
function randomSource(): () => bigint {
  const words = new BigUint64Array(BATCH_WORDS);
  let at = words.length;
  return () => {
    if (at === words.length) {
      randomFillSync(words);
      at = 0;
    }
    const [high, low] = words.subarray(at, (at += 2)) as unknown as [bigint, bigint];
    return ((high & 0xffffn) << 64n) | low;
  };
}

function encode(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = ALPHABET.charAt(Number(rest & 31n)) + text;
  return text;
}
