/**
 * Writes `skill.lock`, and says what changed among the packages that it pins.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockBundle, type BundleLocation, type LoadDeps } from './load-bundle.ts';
import { parseLock } from './lock.ts';
import { diffLocked, type LockedPackages } from './locked-packages.ts';
import { publishSync } from './publish.ts';
import { LOCK_FILE } from './read-bundle.ts';

/** A lock that was written. */
export interface WrittenLock {
  file: string;
  /** What changed among its packages, one line for each. */
  changes: string[];
  /** Requirements that it does not pin, because they are not installed here. */
  unpinned: string[];
}

export async function writeLock(location: BundleLocation, deps: LoadDeps): Promise<WrittenLock> {
  const file = join(location.dir, LOCK_FILE);
  const before = packagesIn(file);
  const { text, requirements } = await lockBundle(location, deps);
  publishSync(file, (draft) => writeFileSync(draft, text));
  const after = packagesIn(file);
  return { file, changes: diffLocked(before, after), unpinned: after ? [] : requirements };
}

function packagesIn(file: string): LockedPackages | undefined {
  try {
    return parseLock(readFileSync(file, 'utf8')).packages;
  } catch {
    // No lock, or one that cannot be read, pins nothing.
    return undefined;
  }
}
