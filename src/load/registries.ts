/**
 * The folders that hold skills, and the ids of the skills in them. Folders of agents can be untrusted, so they are
 * searched within bounds, and links in them are followed only within their project, home or marketplace.
 *
 * @module
 */
import { opendirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isNameSegment } from '../manifest/names.ts';
import { SKILL_MD_CATEGORY } from '../manifest/skill-md.ts';
import { assertAbsent } from './absent.ts';

export interface Registry {
  folder: string;
  /**
   * `categories`: `category/name` or `name`. `flat`: a folder with only a SKILL.md is `skills/<name>`. `pinned`: only the
   * folders in `pinned`.
   */
  layout: 'categories' | 'flat' | 'pinned';
  /** Folders whose real path is outside of this one are left out; absent: links lead anywhere. */
  within?: string;
  /** Only these folders of it. */
  only?: readonly string[];
  /** Folders by id; those that are missing are not registered. */
  pinned?: ReadonlyMap<string, string>;
}

export interface RegisteredSkill {
  /** Its id, or its path if the name of its folder cannot be an id. */
  ref: string;
  dir: string;
}

export const MANIFEST_FILES = ['manifest.yaml', 'SKILL.md'] as const;
/** More than any agent loads; a hostile folder must not make `list` slow. */
export const MAX_FOLDERS = 1000;
/** Names that can be shown although they are no ids; `list` then says which rule they break. */
const SHOWN_NAME = /^[\w][\w .()+-]{0,99}$/;

export function skillsIn(registry: Registry): RegisteredSkill[] {
  if (registry.pinned)
    return [...registry.pinned].flatMap(([ref, folder]) =>
      bundleAt(folder, ownFolderOf(registry)).map((dir) => ({ ref, dir })),
    );
  return registry.layout === 'flat' ? flatSkillsIn(registry) : categorizedSkillsIn(registry);
}

/** The folder of a registry that an id refers to; at most one. */
export function bundleIn(registry: Registry, id: string): string[] {
  if (registry.pinned) {
    const folder = registry.pinned.get(id);
    return folder === undefined ? [] : bundleAt(folder, ownFolderOf(registry));
  }
  if (registry.layout === 'categories') return bundleAt(join(registry.folder, id), registry);
  const name = basename(id);
  const dirs = isListed(registry, name) ? bundleAt(join(registry.folder, name), registry) : [];
  return dirs.filter((dir) => flatId(name, dir) === id);
}

/** The path of a folder as ids of this registry spell it; starts with `..` if it is outside. */
export function pathIn(registry: Registry, dir: string): string {
  if (registry.pinned) {
    const found = skillsIn(registry).find((skill) => skill.dir === dir);
    return found?.ref ?? '..';
  }
  const path = relative(realOrGiven(registry.folder), dir);
  const [name = ''] = path.split('/');
  if (registry.layout === 'categories' || name === '' || name === '..') return path;
  return hasManifest(join(registry.folder, name)) ? path : `${SKILL_MD_CATEGORY}/${path}`;
}

/** A link in the store of fetched skills would lead to something that nobody fetched. */
function ownFolderOf({ folder }: Registry): Pick<Registry, 'within'> {
  return { within: folder };
}

function categorizedSkillsIn(registry: Registry): RegisteredSkill[] {
  const { folder } = registry;
  return namesIn(folder).flatMap((category) => {
    const nested = namesIn(join(folder, category)).map((name) => `${category}/${name}`);
    return [category, ...nested].flatMap((ref) =>
      bundleAt(join(folder, ref), registry).map((dir) => ({ ref, dir })),
    );
  });
}

function flatSkillsIn(registry: Registry): RegisteredSkill[] {
  const names = registry.only ?? someNamesIn(registry.folder);
  return names.flatMap((name) => {
    const path = join(registry.folder, name);
    return bundleAt(path, registry).map((dir) => ({ ref: flatId(name, dir) ?? path, dir }));
  });
}

function flatId(name: string, dir: string): string | undefined {
  if (!isNameSegment(name)) return undefined;
  return hasManifest(dir) ? name : `${SKILL_MD_CATEGORY}/${name}`;
}

function isListed({ only }: Registry, name: string): boolean {
  return isNameSegment(name) && (only === undefined || only.includes(name));
}

function hasManifest(dir: string): boolean {
  return kindOf(join(dir, 'manifest.yaml')) === 'file';
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isNameSegment);
  } catch (error) {
    // A missing registry, or a file among the categories, holds no skills.
    assertAbsent(error, folder);
    return [];
  }
}

/** The first names, sorted, without those of tools. */
export function someNamesIn(folder: string): string[] {
  const names: string[] = [];
  try {
    const open = opendirSync(folder);
    try {
      for (let entry = open.readSync(); entry && names.length < MAX_FOLDERS; entry = open.readSync())
        if (SHOWN_NAME.test(entry.name) && entry.name !== 'node_modules') names.push(entry.name);
    } finally {
      open.closeSync();
    }
  } catch (error) {
    assertAbsent(error, folder);
  }
  return names.sort();
}

/** The real path of a bundle folder, or an empty list. */
export function bundleAt(folder: string, { within }: Pick<Registry, 'within'> = {}): string[] {
  const isBundle = MANIFEST_FILES.some((name) => kindOf(join(folder, name)) === 'file');
  if (!isBundle) return [];
  const dir = realpathSync(folder);
  return within === undefined || isBelow(dir, realOrGiven(within)) ? [dir] : [];
}

/** Expects real paths. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

export function realOrGiven(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    // A missing registry holds nothing, however its path is spelled.
    assertAbsent(error, folder);
    return resolve(folder);
  }
}

export function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    assertAbsent(error, path);
    return undefined;
  }
}

/** A registry of exactly one bundle folder, or of the bundle folders in a folder. */
export function flatRegistry(folder: string, within: string): Registry {
  if (bundleAt(folder).length === 0) return { folder, layout: 'flat', within };
  return { folder: dirname(folder), layout: 'flat', within, only: [basename(folder)] };
}
