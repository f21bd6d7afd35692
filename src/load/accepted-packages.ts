/**
 * Remembers, in Skillcell's own folder, which packages of project overlays a person installed here. An overlay in a
 * project may have come with a clone, or a skill may have written it, so the packages that it names do not count before.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LockedPackages } from './locked-packages.ts';

/** The packages that an overlay names. */
export interface OfferedPackages {
  /** The name of the folder, without a category. */
  skill: string;
  requirements: readonly string[];
  packages?: LockedPackages | undefined;
}

/** Without packages there is nothing to accept. */
export function areAccepted(home: string, offered: OfferedPackages): boolean {
  if (offered.requirements.length === 0 && !offered.packages) return true;
  return existsSync(recordOf(home, offered));
}

export function recordAccepted(home: string, offered: OfferedPackages): void {
  const file = recordOf(home, offered);
  mkdirSync(join(home, 'accepted'), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${offered.skill}\n`, { mode: 0o600 });
}

/** The files of the skill are not part of it: the same packages for a new version of the skill are no news. */
function recordOf(home: string, { skill, requirements, packages }: OfferedPackages): string {
  const targets = Object.entries(packages?.targets ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const list = [skill, requirements, packages?.requirements ?? [], targets];
  return join(home, 'accepted', createHash('sha256').update(JSON.stringify(list)).digest('hex'));
}
