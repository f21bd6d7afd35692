/**
 * The size of files and folders on disk.
 *
 * @module
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Sum of the sizes of all files; links count as themselves, and what cannot be read counts as empty. */
export function bytesIn(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.size;
  return namesIn(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
