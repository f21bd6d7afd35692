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
