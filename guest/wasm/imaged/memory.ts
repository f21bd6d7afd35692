/**
 * How a used memory becomes what it was: by writing every byte of it, whatever the guest did. Nothing in it is asked.
 *
 * @module
 */

/** What lies behind the image was never used when it was taken, so it is zero. */
export function layImage(memory: Uint8Array, image: Uint8Array): void {
  memory.set(image);
  memory.fill(0, image.length);
}
