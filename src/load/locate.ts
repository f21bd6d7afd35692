/**
 * From what a person typed to a bundle folder. An id that is found in two places is an error:
 * a skill never silently takes the place of another.
 *
 * @module
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { isNameSegment } from '../manifest/names.ts';
import { nearestNames } from './nearest-names.ts';

export interface SkillPlaces {
  /** The skills that come with Skillcell. */
  bundledDir: string;
  /** Skillcell's own folder; installed skills are under `installed/<category>/<name>`. */
  home: string;
  /** The working directory; the project's skills are under `skills/`. */
  cwd: string;
}

export interface FoundSkill {
  /** What to call it by: its id, or the path that was given. */
  ref: string;
  /** Real path of the bundle folder. */
  dir: string;
  /** Ids that it has in the registries, whatever it was called by. */
  ids: string[];
  /** Other ids that stand for this folder, or for one that it lies in. */
  aliases: string[];
}

const MANIFEST_FILES = ['manifest.yaml', 'SKILL.md'] as const;

/** Finds the one bundle folder that `ref` stands for: a path to it or to its manifest, or an id. */
export function findSkill(ref: string, places: SkillPlaces): FoundSkill {
  if (ref === '' || ref.includes('\0')) throw usage(`The skill ${JSON.stringify(ref)} is no path and no id.`);
  if (!isId(ref)) return findByPath(ref, places);
  const dirs = new Set(registriesOf(places).flatMap((registry) => bundleAt(join(registry, ref))));
  for (const dir of bundleAt(resolve(places.cwd, ref))) dirs.add(dir);
  const [dir, ...others] = dirs;
  if (dir === undefined) return findByPath(ref, places);
  if (others.length > 0) throw ambiguous(ref, [...dirs]);
  const isRegistered = registriesOf(places).some((registry) => bundleAt(join(registry, ref)).includes(dir));
  return identified({ ref, dir, linked: isRegistered ? [ref] : [] }, places);
}

/** Every bundle folder of the registries, each real folder once, in the order of their ids. */
export function findSkills(places: SkillPlaces): FoundSkill[] {
  const byDir = new Map<string, { ref: string; dir: string; linked: string[] }>();
  for (const { ref, dir } of registriesOf(places).flatMap(skillsIn)) {
    const known = byDir.get(dir);
    if (known) known.linked.push(ref);
    else byDir.set(dir, { ref, dir, linked: [ref] });
  }
  const found = [...byDir.values()].map((skill) => identified(skill, places));
  return found.sort((a, b) => (a.ref < b.ref ? -1 : 1));
}

/** Every id by which somebody could ask for this folder: by how it was found, and by where it really lies. */
function identified(
  { ref, dir, linked }: { ref: string; dir: string; linked: readonly string[] },
  places: SkillPlaces,
): FoundSkill {
  const inRegistries = registriesOf(places).map((registry) => relative(realOrGiven(registry), dir));
  const ids = [...new Set([...linked, ...inRegistries.filter(isId)])];
  // Elsewhere a path that reads like an id is one, and what lies in the folder of a skill belongs to that skill.
  const around = inRegistries.map((path) => path.split('/').slice(0, 2).join('/'));
  const readLikeIds = [ref, relative(realOrGiven(places.cwd), dir), ...around].filter(isFullId);
  const aliases = ids.length > 0 ? ids : [...readLikeIds, ...linksTo(dir, places)];
  return { ref, dir, ids, aliases: [...new Set(aliases)] };
}

/** Ids by which the registries lead to a folder elsewhere. */
function linksTo(dir: string, places: SkillPlaces): string[] {
  const known = registriesOf(places).flatMap(skillsIn);
  return known.filter((found) => found.dir === dir).map(({ ref }) => ref);
}

/** Folders of the registries that hold a skill of this id, other than this one. */
export function namesakesOf(id: string, dir: string, places: SkillPlaces): string[] {
  const found = registriesOf(places).flatMap((registry) => bundleAt(join(registry, id)));
  return [...new Set(found)].filter((other) => other !== dir);
}

/** Folder of the installed skills; where `install` puts them. */
export function installedDir(home: string): string {
  return join(home, 'installed');
}

/** The folders that hold skills; any of them may not exist. */
export function registriesOf(places: SkillPlaces): string[] {
  return [places.bundledDir, join(places.cwd, 'skills'), installedDir(places.home)];
}

/** `category/name` or `name`; no segment can climb or hide, because each starts with a letter or digit. */
function isId(ref: string): boolean {
  const segments = ref.split('/');
  return segments.length <= 2 && segments.every(isNameSegment);
}

function isFullId(ref: string): boolean {
  return isId(ref) && ref.includes('/');
}

function findByPath(ref: string, places: SkillPlaces): FoundSkill {
  const path = resolve(places.cwd, ref);
  const kind = kindOf(path);
  if (kind === undefined) throw unknown(ref, places);
  const isManifest = kind === 'file' && MANIFEST_FILES.some((name) => name === basename(path));
  if (kind === 'file' && !isManifest) {
    throw usage(`The skill ${JSON.stringify(ref)} is a file, but a skill is a folder.`);
  }
  const [dir] = bundleAt(isManifest ? dirname(path) : path);
  if (dir !== undefined) return identified({ ref, dir, linked: [] }, places);
  throw new SkillError(
    'manifest_invalid',
    `The folder ${JSON.stringify(ref)} has no ${MANIFEST_FILES.join(' or ')}.`,
    {
      fix: 'Give the folder of a skill, or add a manifest.yaml to this one.',
      detail: { path, lookedFor: [...MANIFEST_FILES] },
    },
  );
}

function skillsIn(registry: string): { ref: string; dir: string }[] {
  return namesIn(registry).flatMap((category) => {
    const folder = join(registry, category);
    const nested = namesIn(folder).map((name) => `${category}/${name}`);
    return [category, ...nested].flatMap((ref) => bundleAt(join(registry, ref)).map((dir) => ({ ref, dir })));
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isNameSegment);
  } catch {
    // A registry that does not exist, or a file among the categories, holds no skills.
    return [];
  }
}

/** The real path of a bundle folder, or nothing. */
function bundleAt(folder: string): string[] {
  const isBundle = MANIFEST_FILES.some((name) => kindOf(join(folder, name)) === 'file');
  return isBundle ? [realpathSync(folder)] : [];
}

function realOrGiven(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // A registry that does not exist holds nothing, however its path is written.
    return resolve(folder);
  }
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}

function ambiguous(ref: string, dirs: string[]): SkillError {
  const list = dirs.map((dir) => JSON.stringify(dir)).join(' and ');
  return new SkillError('usage', `The skill ${JSON.stringify(ref)} exists more than once: ${list}.`, {
    fix: 'Give the full path of the one you mean, or remove the other.',
    detail: { ref, dirs },
  });
}

function unknown(ref: string, places: SkillPlaces): SkillError {
  const ids = findSkills(places).map((skill) => skill.ref);
  const suggestions = isAbsolute(ref) ? [] : nearestNames(ref, ids);
  const hint = suggestions.map((id) => JSON.stringify(id)).join(' or ');
  return new SkillError(
    'skill_unavailable',
    `The skill ${JSON.stringify(ref)} is neither an existing path nor a known id.`,
    {
      fix:
        hint === ''
          ? 'See `skillcell list` for the known skills, or give the path of a folder.'
          : `Did you mean ${hint}?`,
      detail: { ref, suggestions },
    },
  );
}

function usage(message: string): SkillError {
  return new SkillError('usage', message, {
    fix: 'Give the folder of a skill, its manifest.yaml, or an id as printed by `skillcell list`.',
  });
}
