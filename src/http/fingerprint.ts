/**
 * Whether a folder was touched since it was read, without reading it again. The times are the kernel's: nobody but root
 * can set them back.
 *
 * @module
 */
import { opendirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Beside what a bundle lists. */
const ALSO = ['skill.lock', 'skill.sig'];

export interface Fingerprint {
  readonly paths: readonly string[];
  readonly stamps: string;
  /** When the newest of them changed, in milliseconds since 1970. */
  readonly changedAt: number;
}

/** Of the files of a bundle and the folders that they lie in, where others could be added. */
export function takeFingerprint(dir: string, files: readonly string[]): Fingerprint {
  const folders = new Set(files.map((file) => dirname(file)));
  return stampsOf([...new Set(['.', ...folders, ...files, ...ALSO])].map((path) => join(dir, path)));
}

/** As many entries of a bundle as a good one has; more are not looked at. */
const MAX_LISTED = 2000;

/** The files of a folder that could not be read as a bundle, as far as they go. */
export function listFiles(dir: string): { files: string[]; isWhole: boolean } {
  const files: string[] = [];
  const folders = [''];
  for (let left = MAX_LISTED; folders.length > 0;) {
    const below = folders.pop() ?? '';
    const folder = opendirSync(join(dir, below));
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (left-- === 0) return { files, isWhole: false };
        if (entry.isDirectory()) folders.push(join(below, entry.name));
        files.push(join(below, entry.name));
      }
    } finally {
      folder.closeSync();
    }
  }
  return { files, isWhole: true };
}

export function isUntouched({ paths, stamps }: Fingerprint): boolean {
  return stampsOf(paths).stamps === stamps;
}

function stampsOf(paths: readonly string[]): Fingerprint {
  let changedAt = 0;
  const stamps = paths.map((path) => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (!found) return 'absent';
    changedAt = Math.max(changedAt, Number(found.ctimeNs / 1_000_000n));
    return `${found.ino} ${found.size} ${found.ctimeNs}`;
  });
  return { paths, stamps: stamps.join('\n'), changedAt };
}
