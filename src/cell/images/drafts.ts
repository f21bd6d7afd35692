/**
 * Removes abandoned drafts. A draft is written under a temporary name before it is published; if its writer is killed, it
 * stays behind.
 *
 * @module
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HIDDEN_DRAFT } from '../../load/publish.ts';
import { removeTree } from '../../load/remove-tree.ts';

/** Longer than writing a draft takes. */
const ABANDONED_MS = 60 * 60 * 1000;

export async function sweepDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(HIDDEN_DRAFT)) continue;
    const draft = join(folder, name);
    const stat = await lstat(draft).catch(() => undefined);
    if (stat && Date.now() - stat.mtimeMs > ABANDONED_MS) await removeTree(draft).catch(() => undefined);
  }
}
