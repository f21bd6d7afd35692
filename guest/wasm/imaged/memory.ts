/**
 * Resets a used memory by writing every byte of it, whatever the guest did. Nothing in it is read.
 *
 * @module
 */

/** An image takes memory of the process in addition to that of the call. Larger images are not kept. */
export const MAX_IMAGE_BYTES: number = 128 * 1024 * 1024;

/** The content of an image that is not in the memory of this process as a whole. It must never change. */
export interface StoredBytes {
  readonly length: number;
  /** Fills `into` with the bytes from `at`; all of them must exist. */
  read(into: Uint8Array, at: number): void;
}

/** Everything after the image was unused when it was taken, so it is zero. */
export function layImage(memory: Uint8Array, image: Uint8Array | StoredBytes): void {
  if (image instanceof Uint8Array) memory.set(image);
  else image.read(memory.subarray(0, image.length), 0);
  memory.fill(0, image.length);
}

/** Copies a part of the image into `into`. */
export function readPart(image: Uint8Array | StoredBytes, into: Uint8Array, at: number): void {
  if (image instanceof Uint8Array) into.set(image.subarray(at, at + into.length));
  else image.read(into, at);
}

/** Part of an image. What is between and behind the parts of an image is zero. */
export interface ImagePart {
  at: number;
  bytes: Uint8Array<ArrayBuffer>;
}

interface Range {
  start: number;
  end: number;
}

const BLOCK_BYTES = 4096;
const ZEROS = new Uint8Array(BLOCK_BYTES);

/**
 * The blocks that are not only zeros. The others, such as an unused stack, need no memory, and are faster to fill than to
 * copy. Undefined if the parts of all memories have more than `MAX_IMAGE_BYTES`.
 */
export function takeParts(memories: readonly Uint8Array[]): ImagePart[][] | undefined {
  const found = memories.map(usedRanges);
  const bytes = found.flat().reduce((sum, { start, end }) => sum + end - start, 0);
  if (bytes > MAX_IMAGE_BYTES) return undefined;
  return memories.map((memory, at) => (found[at] ?? []).map((range) => copyOf(memory, range)));
}

function usedRanges(memory: Uint8Array): Range[] {
  const ranges: Range[] = [];
  for (let start = 0; start < memory.length; start += BLOCK_BYTES) {
    const block = memory.subarray(start, start + BLOCK_BYTES);
    if (Buffer.compare(block, ZEROS.subarray(0, block.length)) === 0) continue;
    const end = start + block.length;
    const last = ranges.at(-1);
    if (last?.end === start) last.end = end;
    else ranges.push({ start, end });
  }
  return ranges;
}

function copyOf(memory: Uint8Array, { start, end }: Range): ImagePart {
  return { at: start, bytes: new Uint8Array(memory.subarray(start, end)) };
}

/** Writes the parts, and zeros between and behind them. */
export function layParts(memory: Uint8Array, parts: readonly ImagePart[]): void {
  let done = 0;
  for (const { at, bytes } of parts) {
    memory.fill(0, done, at);
    memory.set(bytes, at);
    done = at + bytes.length;
  }
  memory.fill(0, done);
}
