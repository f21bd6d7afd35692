/**
 * Determines the origin of a skill, which decides how far it is trusted. Only the real path counts: a link inside the
 * project that points elsewhere does not belong to the project.
 *
 * @module
 */
import { assertAbsent } from '../load/absent.ts';
import { realpathSync } from 'node:fs';
import { isAccepted } from '../load/accepted-skills.ts';
import { clusterDir } from '../load/cluster-home.ts';
import { fetchedDir } from '../load/fetched.ts';
import { isAbsolute, relative, resolve } from 'node:path';
import { tenantsDir } from '../load/tenant-home.ts';
import { isInAgentFolder } from '../vocabulary/agent-folders.ts';
import type { Origin } from '../vocabulary/origins.ts';
import type { BundleLocation } from '../load/load-bundle.ts';
import { findSkill, findSkills, installedDir } from '../load/locate.ts';
import type { FoundSkill, SkillPlaces } from '../load/locate.ts';

/** The origin of a bundle folder. Expects its real path. */
export function originOf(dir: string, places: SkillPlaces): Origin {
  if (isBelow(dir, places.bundledDir)) return 'bundled';
  if (isBelow(dir, installedDir(places.home))) return 'installed';
  // A clone may pin what was fetched for another project; only what a person of this machine accepted is theirs.
  if (isBelow(dir, fetchedDir(places.home))) return isAccepted(places.home, dir) ? 'installed' : 'external';
  // Also if the project holds Skillcell's own folder.
  if (isBelow(dir, tenantsDir(places.home)) || isBelow(dir, clusterDir(places.home))) return 'external';
  // Tools copy third-party skills into these folders, even within a project.
  if (isInAgentFolder(dir)) return 'external';
  if (isBelow(dir, places.cwd)) return 'project';
  return 'external';
}

/** The one skill that `ref` refers to, with its origin. */
export function locateSkill(ref: string, places: SkillPlaces): BundleLocation {
  return withOrigin(findSkill(ref, places), places);
}

/** Every skill of the registries, with its origin. */
export function listSkills(places: SkillPlaces): BundleLocation[] {
  return findSkills(places).map((found) => withOrigin(found, places));
}

function withOrigin(found: FoundSkill, places: SkillPlaces): BundleLocation {
  return { ...found, origin: originOf(found.dir, places) };
}

function isBelow(dir: string, folder: string): boolean {
  const path = relative(realPath(folder), dir);
  return path !== '..' && !path.startsWith('../') && !isAbsolute(path);
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    // A missing folder contains nothing, however its path is spelled.
    assertAbsent(error, folder);
    return resolve(folder);
  }
}
