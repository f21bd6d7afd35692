/**
 * Digests of bundle folders, to recognize the same bundle in two places. They are kept until a file changes, because the
 * skills are listed often.
 *
 * @module
 */
import { folderStamp } from './folder-stamp.ts';
import { readBundle } from './read-bundle.ts';

/** Undefined if the folder cannot be read as a bundle; it is then equal to no other. */
export function digestOfFolder(dir: string): string | undefined {
  try {
    return readBundle(dir).digest;
  } catch {
    return undefined;
  }
}

export class FolderDigests {
  readonly #known = new Map<string, { stamp: string; digest: string | undefined }>();

  readonly digestOf = (dir: string): string | undefined => {
    const stamp = folderStamp(dir);
    const known = this.#known.get(dir);
    if (known?.stamp === stamp) return known.digest;
    const digest = digestOfFolder(dir);
    this.#known.set(dir, { stamp, digest });
    return digest;
  };
}
