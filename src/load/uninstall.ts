/**
 * Removes a skill from the store of installed skills. Running calls use their staged copy and are not affected.
 *
 * @module
 */
import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { SkillError } from '../errors.ts';
import { isNameSegment } from '../manifest/names.ts';
import { bytesIn } from './bytes-in.ts';
import { readDescription } from './bundle-texts.ts';
import { installedDir } from './locate.ts';
import { nearestNames } from './nearest-names.ts';
import { readBundle } from './read-bundle.ts';
import { removeTreeSync } from './remove-tree.ts';

/** What was removed. */
export interface Uninstalled {
  skill: string;
  /** Absent if the installed copy could not be read. */
  version?: string;
  digest?: string;
  folder: string;
  bytes: number;
}

/** `ref` is `category/name` or `name`, with an optional `@version`. */
export function uninstallSkill(home: string, ref: string): Uninstalled {
  const at = ref.lastIndexOf('@');
  const [id, version] = at > 0 ? [ref.slice(0, at), ref.slice(at + 1)] : [ref, undefined];
  const segments = id.split('/');
  if (segments.length > 2 || !segments.every(isNameSegment)) throw notAnId(ref);
  const folder = join(installedDir(home), id);
  // A category is a folder too, and must not be removed with everything in it.
  if (!isSkill(folder)) throw notInstalled(home, id);
  const found = describe(folder);
  if (version !== undefined && version !== found.version) throw otherVersion(id, version, found.version);
  const bytes = bytesIn(folder);
  // Renamed first, so that a concurrent load sees the whole skill or none.
  const aside = join(installedDir(home), `.old-${randomBytes(8).toString('hex')}`);
  renameSync(folder, aside);
  removeTreeSync(aside);
  removeIfEmpty(dirname(folder), home);
  return { skill: id, ...found, folder, bytes };
}

function isSkill(folder: string): boolean {
  const isFolder = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder && ['manifest.yaml', 'SKILL.md'].some((name) => existsSync(join(folder, name)));
}

function describe(folder: string): { version?: string; digest?: string } {
  try {
    const { digest, contents } = readBundle(folder);
    return { version: readDescription(contents, folder).manifest.version, digest };
  } catch {
    // A damaged copy can still be removed.
    return {};
  }
}

function removeIfEmpty(category: string, home: string): void {
  if (category === installedDir(home)) return;
  try {
    rmdirSync(category);
  } catch {
    // It has other skills.
  }
}

function installedIds(home: string): string[] {
  const root = installedDir(home);
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter(isNameSegment)
    .flatMap((category) => {
      const inside = lstatSync(join(root, category)).isDirectory() ? readdirSync(join(root, category)) : [];
      const nested = inside.filter(isNameSegment).map((name) => `${category}/${name}`);
      return [category].concat(nested);
    })
    .filter((id) => isSkill(join(root, id)));
}

function notAnId(ref: string): SkillError {
  return new SkillError('usage', `${JSON.stringify(ref)} is not the id of an installed skill`, {
    fix: 'Pass an id as printed by `skillcell list`, such as "text/shout" or "text/shout@1.0.0".',
  });
}

function notInstalled(home: string, id: string): SkillError {
  const ids = installedIds(home);
  const [nearest] = nearestNames(id, ids);
  const known = ids.length > 0 ? `Installed are: ${ids.slice(0, 10).join(', ')}.` : 'No skill is installed.';
  return new SkillError('skill_unavailable', `The skill ${JSON.stringify(id)} is not installed. ${known}`, {
    fix:
      nearest === undefined
        ? 'Skills of a project are not installed: delete their folder instead.'
        : `Did you mean: skillcell uninstall ${nearest}`,
    detail: { skill: id, installed: ids },
  });
}

function otherVersion(id: string, version: string, found: string | undefined): SkillError {
  const here = found === undefined ? 'a copy that cannot be read' : `version ${found}`;
  return new SkillError(
    'usage',
    `${JSON.stringify(id)} is installed as ${here}, not as version ${JSON.stringify(version)}`,
    {
      fix: `To remove it, run: skillcell uninstall ${id}`,
      detail: { skill: id, version, installed: found },
    },
  );
}
