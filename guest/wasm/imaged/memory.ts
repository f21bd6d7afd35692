/**
 * How a used memory becomes what it was: by writing every byte of it, whatever the guest did. Nothing in it is asked.
 *
 * @module
 */

/** An image is memory of the process beside that of the call. A larger one is not kept: its calls start without it. */
export const MAX_IMAGE_BYTES: number = 128 * 1024 * 1024;

/** What lies behind the image was never used when it was taken, so it is zero. */
export function layImage(memory: Uint8Array, image: Uint8Array): void {
  memory.set(image);
  memory.fill(0, image.length);
}
