/**
 * Detects whether a bundle folder has changed. It only saves work: a folder that is read again is verified again, and one
 * that is not still runs from the verified copy.
 *
 * @module
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { IGNORE_FILE, isIgnoredByDefault } from './ignore.ts';

/** More files than a bundle may have. Such a folder is read each time, so that the loader reports the excess. */
const MAX_ENTRIES = 5000;

/** Equal to the previous stamp of the folder only if no file of the bundle has changed. */
export function folderStamp(dir: string): string {
  try {
    const stamps: string[] = [];
    // Patterns of the author may include what is ignored by default, so nothing is skipped then.
    const skipsDefaults = !readdirSync(dir).includes(IGNORE_FILE);
    const folders = [''];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of readdirSync(join(dir, folder), { withFileTypes: true })) {
        if (skipsDefaults && isIgnoredByDefault(entry.name)) continue;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        stamps.push(`${path}\0${stampOf(join(dir, path))}`);
        if (stamps.length > MAX_ENTRIES) return uniqueStamp();
      }
    }
    return stamps.sort().join('\n');
  } catch {
    // The folder disappeared while it was read.
    return uniqueStamp();
  }
}

function stampOf(path: string): string {
  const { size, mtimeNs, ctimeNs, ino } = lstatSync(path, { bigint: true });
  return `${size}:${mtimeNs}:${ctimeNs}:${ino}`;
}

/** Differs from every other stamp, so that the folder counts as changed. */
function uniqueStamp(): string {
  return `changed ${process.hrtime.bigint()}`;
}
