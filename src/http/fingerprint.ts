/**
 * Detects whether a folder changed since it was read, without reading its files again. It uses ctime, which only root can
 * reset.
 *
 * @module
 */
import { opendirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files that a bundle does not list. */
const EXTRA_FILES = ['skill.lock', 'skill.sig'];

export interface Fingerprint {
  readonly paths: readonly string[];
  readonly stamps: string;
  /** Time of the latest change, in milliseconds since 1970. */
  readonly changedAt: number;
}

/** Covers the files of a bundle and their folders, where files could be added. */
export function takeFingerprint(dir: string, files: readonly string[]): Fingerprint {
  const folders = new Set(files.map((file) => dirname(file)));
  return stampsOf([...new Set(['.', ...folders, ...files, ...EXTRA_FILES])].map((path) => join(dir, path)));
}

/** More entries than a valid bundle has; the rest is not listed. */
const MAX_LISTED = 2000;

/** Files of a folder that could not be read as a bundle, up to a maximum. */
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
