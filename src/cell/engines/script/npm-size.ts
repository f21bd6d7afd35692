/**
 * How large the npm packages of one folder may be. Nobody knows it before they are fetched, so it is checked before they are kept.
 *
 * @module
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';

export interface NpmLimits {
  packages: number;
  files: number;
  bytes: number;
}

export const NPM_LIMITS: NpmLimits = { packages: 3000, files: 200_000, bytes: 1024 ** 3 };

/** Throws if there are too many packages to fetch. */
export function assertFewPackages(count: number, { packages }: NpmLimits = NPM_LIMITS): void {
  if (count > packages) throw tooLarge(`they are ${count} packages, and at most ${packages} are allowed`);
}

/** Throws if a tree has too many files and folders, or too many bytes; stops counting there. */
export async function assertSmallTree(root: string, { files, bytes }: NpmLimits = NPM_LIMITS): Promise<void> {
  const found = { files: 0, bytes: 0 };
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else found.bytes += (await lstat(path)).size;
      found.files += 1;
      if (found.files > files) throw tooLarge(`they have more than ${files} files and folders`);
      if (found.bytes > bytes) throw tooLarge(`they have more than ${bytes} bytes`);
    }
  }
}

function tooLarge(reason: string): SkillError {
  return new SkillError('skill_unavailable', `The npm packages are too large: ${reason}`, {
    fix: 'Remove packages that the scripts do not need from its package.json.',
  });
}
