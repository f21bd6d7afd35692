/**
 * The copy of a fetched skill in the store, if it is whole.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { assertFetched } from '../load/fetched.ts';
import { readBundle, type BundleFiles } from '../load/read-bundle.ts';
import { realOrGiven } from '../load/registries.ts';
import { removeTreeSync } from '../load/remove-tree.ts';

/** Undefined if there is no copy. A damaged one is removed, so that it is fetched again. */
export function readCopy(home: string, folder: string): BundleFiles | undefined {
  if (!existsSync(folder)) return undefined;
  try {
    const read = readBundle(folder);
    assertFetched(home, realOrGiven(folder), read);
    return read;
  } catch {
    removeTreeSync(folder);
    return undefined;
  }
}
