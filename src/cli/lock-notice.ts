/**
 * Says once per skill that it has no lock: while a skill is being written, the warning would come with every run.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const NO_LOCK = /^The bundle has no skill\.lock/;

/** The warnings without the one about the lock, if it was already shown for this skill. */
export function withoutKnownNotices(warnings: readonly string[], ref: string, home: string): string[] {
  if (!warnings.some((warning) => NO_LOCK.test(warning)) || isFirst(resolve(ref), home)) return [...warnings];
  return warnings.filter((warning) => !NO_LOCK.test(warning));
}

/** Leaves an empty file as a mark. Without a writable home, the warning is repeated. */
function isFirst(skill: string, home: string): boolean {
  const folder = join(home, 'notices');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, createHash('sha256').update(skill).digest('hex').slice(0, 32)), '', {
      flag: 'wx',
    });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  }
}
