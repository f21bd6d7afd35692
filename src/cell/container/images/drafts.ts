/**
 * Drafts: what is being made under a name of its own before it is put in place. One whose maker was killed stays behind, and
 * whoever comes by later takes it away.
 *
 * @module
 */
import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnpacked } from './unpack.ts';

const PREFIX = '.new-';
/** Nobody takes that long to make one. */
const ABANDONED_MS = 60 * 60 * 1000;

/** A new folder to make something in. */
export async function openDraft(folder: string): Promise<string> {
  await sweepDrafts(folder);
  return mkdtemp(join(folder, PREFIX));
}

export async function sweepDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(PREFIX)) continue;
    const draft = join(folder, name);
    const stat = await lstat(draft).catch(() => undefined);
    if (stat && Date.now() - stat.mtimeMs > ABANDONED_MS) await removeUnpacked(draft).catch(() => undefined);
  }
}
