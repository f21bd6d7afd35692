/**
 * Size limits of an image. An archive of a few kilobytes can expand to terabytes, so everything is counted while reading.
 *
 * @module
 */

export interface ImageLimits {
  layers: number;
  /** Total of files, folders and links in all layers. */
  entries: number;
  /** Total of unpacked bytes in all layers. */
  bytes: number;
  /** Length of a path, and of a link target. */
  pathBytes: number;
  depth: number;
  /** Size of a config or manifest, which are parsed on the event loop. */
  jsonBytes: number;
}

export const IMAGE_LIMITS: ImageLimits = {
  layers: 127,
  entries: 200_000,
  bytes: 4 * 1024 ** 3,
  pathBytes: 4096,
  depth: 128,
  jsonBytes: 256 * 1024,
};
