/**
 * Resolves what a person typed to a bundle folder. Bundled skills are examples and give way to others, with a warning.
 * Otherwise an id that belongs to two different bundles is an error: one skill never silently replaces another.
 *
 * @module
 */
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { isNameSegment } from '../manifest/names.ts';
import { shellWord } from '../manifest/quote.ts';
import { agentRegistries, type AgentPlaces } from './agent-registries.ts';
import { keyOfFolder } from './fetched.ts';
import { digestOfFolder } from './folder-digests.ts';
import { nearestNames } from './nearest-names.ts';
import { isAccepted } from './accepted-skills.ts';
import { pinnedRegistries, type PinPlaces } from './pinned-skills.ts';
import {
  bundleAt,
  bundleIn,
  kindOf,
  MANIFEST_FILES,
  pathIn,
  realOrGiven,
  skillsIn,
  type Registry,
} from './registries.ts';

export interface SkillPlaces extends AgentPlaces, Pick<PinPlaces, 'readPins'> {
  /** The skills that come with Skillcell. */
  bundledDir: string;
  /** Skillcell's own folder; installed skills are under `installed/<category>/<name>`. */
  home: string;
  /** The working directory; the project's skills are under `skills/` and in the folders of agents. */
  cwd: string;
  /** The digest of a bundle folder; undefined if it cannot be read. Absent: the folder is read each time. */
  digestOf?: ((dir: string) => string | undefined) | undefined;
}

export interface FoundSkill {
  /** Its id, or the path that the caller gave. A bundled skill that gives way to another is `bundled:<id>`. */
  ref: string;
  /** Real path of the bundle folder. */
  dir: string;
  /** Its ids in the registries, however the caller referred to it. */
  ids: string[];
  /** Other ids that refer to this folder or to one that contains it. */
  aliases: string[];
  /** Folder of the bundled skill with the same id and another digest, which gives way to this one. */
  shadows?: string | undefined;
}

/** `bundled:<id>` always refers to the skill that comes with Skillcell. */
export const BUNDLED_PREFIX = 'bundled:';

/** Finds the one bundle folder that `ref` refers to: by its path, its manifest's path, or its id. */
export function findSkill(ref: string, places: SkillPlaces): FoundSkill {
  if (ref === '' || ref.includes('\0'))
    throw usage(`The skill ${JSON.stringify(ref)} is neither a valid path nor a valid id.`);
  if (ref.startsWith(BUNDLED_PREFIX)) return findBundled(ref, places);
  if (!isId(ref)) return findByPath(ref, places);
  const [bundled] = bundleAt(join(places.bundledDir, ref));
  const registries = allRegistries(places);
  const [, project, installed, ...agents] = registries;
  const found = [
    ...bundleIn(project, ref),
    ...bundleAt(resolve(places.cwd, ref)),
    ...[installed, ...agents].flatMap((registry) => bundleIn(registry, ref)),
  ];
  const own = [...new Set(found)].filter((dir) => dir !== bundled);
  // A link to somewhere else takes the place of nothing.
  const hasForeign = bundled !== undefined && own.some((dir) => !isOwnFolder(dir, places));
  const candidates = hasForeign ? [...own, bundled] : own;
  const dir = own.length > 0 ? onlyBundle(ref, candidates, places) : bundled;
  if (dir === undefined) return findByPath(ref, places);
  const isRegistered = registries.some((registry) => bundleIn(registry, ref).includes(dir));
  return addIds({ ref, dir, linked: isRegistered ? [ref] : [], ...shadowOf(dir, bundled, places) }, places);
}

function findBundled(ref: string, places: SkillPlaces): FoundSkill {
  const id = ref.slice(BUNDLED_PREFIX.length);
  const [dir] = isId(id) ? bundleAt(join(places.bundledDir, id)) : [];
  if (dir !== undefined) return addIds({ ref, dir, linked: [id] }, places);
  const ids = skillsIn(allRegistries(places)[0]).map((skill) => BUNDLED_PREFIX + skill.ref);
  throw unknown(ref, `No bundled skill has the id ${JSON.stringify(id)}.`, ids);
}

/** The first of several folders if all hold the same bundle. */
function onlyBundle(ref: string, dirs: readonly string[], places: SkillPlaces): string | undefined {
  const [first, ...others] = dirs;
  if (first !== undefined && !others.every((dir) => isSameBundle(first, dir, places)))
    throw ambiguous(ref, dirs, places);
  return first;
}

/** Whether the real path is in the project, among the installed skills, or was fetched by a person of this machine. */
function isOwnFolder(dir: string, places: SkillPlaces): boolean {
  if (isAccepted(places.home, dir)) return true;
  const folders = [places.cwd, installedDir(places.home)].map((folder) => `${realOrGiven(folder)}/`);
  return folders.some((folder) => dir.startsWith(folder));
}

function isSameBundle(one: string, other: string, { digestOf = digestOfFolder }: SkillPlaces): boolean {
  if (one === other) return true;
  const digest = digestOf(one);
  return digest !== undefined && digest === digestOf(other);
}

function shadowOf(dir: string, bundled: string | undefined, places: SkillPlaces): { shadows?: string } {
  return bundled === undefined || isSameBundle(dir, bundled, places) ? {} : { shadows: bundled };
}

/**
 * Every bundle of the registries, each real folder once, sorted by id. The same bundle in several registries is listed
 * once, as the project's.
 */
export function findSkills(places: SkillPlaces): FoundSkill[] {
  const registries = allRegistries(places);
  const [examplesDir, ...others] = registries;
  const bundled = foldersOf([examplesDir]);
  const own = foldersOf(others);
  for (const [dir, { linked }] of own) {
    const example = bundled.get(dir);
    if (!example) continue;
    example.linked.push(...linked);
    own.delete(dir);
  }
  const kept = [...Map.groupBy(own.values(), ({ ref }) => ref).values()].flatMap((namesakes) =>
    namesakes.filter(
      ({ dir }, at) => !namesakes.slice(0, at).some((one) => isSameBundle(one.dir, dir, places)),
    ),
  );
  const winners = new Map(
    kept.filter(({ dir }) => isOwnFolder(dir, places)).map((skill) => [skill.ref, skill]),
  );
  const examples = [...bundled.values()].flatMap((skill) => {
    const winner = winners.get(skill.ref);
    if (!winner) return [skill];
    return isSameBundle(winner.dir, skill.dir, places) ? [] : [{ ...skill, ref: BUNDLED_PREFIX + skill.ref }];
  });
  for (const skill of winners.values())
    skill.shadows = shadowOf(skill.dir, bundledAt(skill.ref, bundled), places).shadows;
  const found = [...kept, ...examples].map((skill) => addIds(skill, places, registries));
  return found.sort((a, b) => (a.ref < b.ref ? -1 : 1));
}

function bundledAt(id: string, bundled: ReadonlyMap<string, KnownFolder>): string | undefined {
  return [...bundled.values()].find((skill) => skill.linked.includes(id))?.dir;
}

interface KnownFolder {
  ref: string;
  dir: string;
  /** Every id that leads to it. */
  linked: string[];
  shadows?: string | undefined;
}

/** By real path. */
function foldersOf(registries: readonly Registry[]): Map<string, KnownFolder> {
  const byDir = new Map<string, KnownFolder>();
  for (const { ref, dir } of registries.flatMap(skillsIn)) {
    const known = byDir.get(dir);
    const linked = isId(ref) ? [ref] : [];
    if (known) known.linked.push(...linked);
    else byDir.set(dir, { ref, dir, linked });
  }
  return byDir;
}

/** Adds every id that could refer to this folder: those it was found by, and those of its real path. */
function addIds(
  { ref, dir, linked, shadows }: KnownFolder,
  places: SkillPlaces,
  registries: readonly Registry[] = allRegistries(places),
): FoundSkill {
  const inRegistries = registries.map((registry) => pathIn(registry, dir));
  const ids = [...new Set([...linked, ...inRegistries.filter(isId)])];
  // Outside registries, a path that looks like an id counts as one, and a folder inside a skill belongs to that skill.
  const enclosing = inRegistries.map((path) => path.split('/').slice(0, 2).join('/'));
  const idLikePaths = [ref, relative(realOrGiven(places.cwd), dir), ...enclosing].filter(isFullId);
  const aliases = ids.length > 0 ? ids : [...idLikePaths, ...linksTo(dir, registries)];
  return { ref, dir, ids, aliases: [...new Set(aliases)], ...(shadows === undefined ? {} : { shadows }) };
}

/** Ids whose registry entry links to this folder outside the registries. */
function linksTo(dir: string, registries: readonly Registry[]): string[] {
  const known = registries.flatMap(skillsIn);
  return known.filter((found) => found.dir === dir).map(({ ref }) => ref);
}

/** Other folders in the registries that hold a skill with this id. A registered skill and its exact copies are one skill. */
export function namesakesOf(
  id: string,
  dir: string,
  places: SkillPlaces,
): { others: string[]; isRegistered: boolean } {
  const found = allRegistries(places).flatMap((registry) => bundleIn(registry, id));
  const others = [...new Set(found)].filter((other) => other !== dir);
  if (!found.includes(dir)) return { others, isRegistered: false };
  return { others: others.filter((other) => !isSameBundle(dir, other, places)), isRegistered: true };
}

/** The folder that `install` copies skills to. */
export function installedDir(home: string): string {
  return join(home, 'installed');
}

/** The folders that hold skills. Some may not exist. */
export function registriesOf(places: SkillPlaces): string[] {
  return [...new Set(allRegistries(places).map(({ folder }) => folder))];
}

/** The bundled skills first, then those of the project, the installed and the pinned ones, and those of agents. */
function allRegistries(places: SkillPlaces): [Registry, Registry, Registry, ...Registry[]] {
  const layout = 'categories';
  return [
    { folder: places.bundledDir, layout },
    { folder: join(places.cwd, 'skills'), layout },
    { folder: installedDir(places.home), layout },
    ...pinnedRegistries(places),
    ...agentRegistries(places),
  ];
}

/** `category/name` or `name`. A segment starts with a letter or digit, so it cannot be `..` or a hidden file. */
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
  if (kind === undefined) throw unknownRef(ref, places);
  const isManifest = kind === 'file' && MANIFEST_FILES.some((name) => name === basename(path));
  if (kind === 'file' && !isManifest) {
    throw usage(`The skill ${JSON.stringify(ref)} is a file, but a skill is a folder.`);
  }
  const [dir] = bundleAt(isManifest ? dirname(path) : path);
  if (dir !== undefined) return addIds({ ref, dir, linked: [] }, places);
  throw new SkillError(
    'manifest_invalid',
    `The folder ${JSON.stringify(ref)} has no ${MANIFEST_FILES.join(' or ')}.`,
    {
      fix:
        kindOf(join(path, 'skill.md')) === 'file'
          ? 'Rename its skill.md to SKILL.md.'
          : 'Pass the folder of a skill, or add a manifest.yaml to this one.',
      detail: { path, lookedFor: [...MANIFEST_FILES] },
    },
  );
}

function ambiguous(ref: string, dirs: readonly string[], places: SkillPlaces): SkillError {
  const list = dirs.map((dir) => JSON.stringify(dir)).join(' and ');
  const installed = bundleAt(join(installedDir(places.home), ref)).some((dir) => dirs.includes(dir));
  const [first = ''] = dirs;
  const isFetched = dirs.some((dir) => keyOfFolder(places.home, dir) !== undefined);
  const byPath = `pass the path of the one you mean, such as ${shellWord(first)}`;
  return new SkillError('usage', `Two different skills have the id ${JSON.stringify(ref)}: ${list}.`, {
    fix: installed
      ? `Remove the installed one with \`skillcell uninstall ${shellWord(ref)}\`, or ${byPath}`
      : isFetched
        ? `Remove the fetched one with \`skillcell remove ${shellWord(ref)}\`, or ${byPath}`
        : `Rename one of the folders, or ${byPath}`,
    detail: { ref, dirs: [...dirs] },
  });
}

function unknownRef(ref: string, places: SkillPlaces): SkillError {
  const ids = isAbsolute(ref) ? [] : findSkills(places).map((skill) => skill.ref);
  return unknown(ref, `The skill ${JSON.stringify(ref)} is neither an existing path nor a known id.`, ids);
}

function unknown(ref: string, message: string, ids: readonly string[]): SkillError {
  const suggestions = nearestNames(ref, ids);
  const hint = suggestions.map((id) => JSON.stringify(id)).join(' or ');
  return new SkillError('skill_unavailable', message, {
    fix:
      hint === ''
        ? 'Run `skillcell list` to see the known skills, or pass the path of a folder.'
        : `Did you mean ${hint}?`,
    detail: { ref, suggestions },
  });
}

function usage(message: string): SkillError {
  return new SkillError('usage', message, {
    fix: 'Pass the folder of a skill, its manifest.yaml, or an id as printed by `skillcell list`.',
  });
}
