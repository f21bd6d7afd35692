/**
 * Whether a folder looks changed. Only saves work: what is read anew is verified anew, and what is not read again still
 * runs from the verified copy.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** More files than a bundle may have: then it is read each time, and its own caps speak. */
const MAX_FILES = 5000;

export function fingerprintOf(dir: string): string {
  try {
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
    if (names.length > MAX_FILES) return unlike();
    return names
      .sort()
      .map((name) => `${name}\0${stampOf(join(dir, name))}`)
      .join('\n');
  } catch {
    // Going away while we look.
    return unlike();
  }
}

function stampOf(path: string): string {
  const { size, mtimeNs, ctimeNs, ino } = statSync(path, { bigint: true });
  return `${size}:${mtimeNs}:${ctimeNs}:${ino}`;
}

/** Equal to no other. */
function unlike(): string {
  return `changed ${process.hrtime.bigint()}`;
}
