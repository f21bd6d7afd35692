/**
 * Resets a used memory by writing every byte of it, whatever the guest did. Nothing in it is read.
 *
 * @module
 */

/** An image takes memory of the process in addition to that of the call. Larger images are not kept. */
export const MAX_IMAGE_BYTES: number = 128 * 1024 * 1024;

/** Everything after the image was unused when it was taken, so it is zero. */
export function layImage(memory: Uint8Array, image: Uint8Array): void {
  memory.set(image);
  memory.fill(0, image.length);
}
