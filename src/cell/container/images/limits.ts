/**
 * How much an image may be. An archive of a few kilobytes can announce terabytes, so everything is counted while it is read.
 *
 * @module
 */

export interface ImageLimits {
  layers: number;
  /** Files, folders and links of all layers together. */
  entries: number;
  /** Unpacked bytes of all layers together. */
  bytes: number;
  /** Of one path, and of one name in front of it in an extended header. */
  pathBytes: number;
  depth: number;
  /** Of a config or a manifest, which are parsed on the thread that serves all calls. */
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
