/**
 * Protects the files that control skills: policies, registries, files that policies name, and Skillcell's own code. A
 * grant that lets a skill write around them makes them read-only, or is refused if that is not possible.
 *
 * @module
 */
import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { sharedEngines } from '../load/home.ts';
import { PROJECT_OVERLAYS } from '../load/overlay.ts';
import { SKILLS_LOCK } from '../load/skills-lock.ts';
import { shellWord } from '../manifest/quote.ts';
import { foldersUpToRepository } from '../load/agent-registries.ts';
import { marketplaceRegistries } from '../load/marketplaces.ts';
import { AGENT_FOLDER_NAMES, AGENT_FOLDERS, MARKETPLACE_FILE } from '../vocabulary/agent-folders.ts';
import { packageRoot } from '../package-root.ts';
import { filesOf, rulesOf } from './combine.ts';
import { isInBundle, POLICY_FILE } from './find-policy.ts';
import type { GrantedPath } from './grant.ts';
import type { OperatorPolicy } from './operator.ts';
import { secretPrograms } from './secret-places.ts';

export interface ProtectOptions {
  policy: OperatorPolicy;
  /** The working directory, whose skills and policies apply. */
  cwd: string;
  /** The folder of the skill, whose manifest decides what it may do. */
  bundle?: string | undefined;
}

export type Protection =
  /** Grants to add inside the path so that the control files stay read-only. */
  { inner: GrantedPath[] } | { refusal: string; fix: string };

/** The project's own skills. */
const REGISTRY = 'skills';
/** The folder around the overlays of a project: what a skill wrote there, a person might approve. */
const OVERLAYS = dirname(PROJECT_OVERLAYS);
/** Skillcell's own code, if it runs from a checkout. */
const OWN_CODE = ['bin', 'dist', 'src', 'guest', 'skills', 'node_modules', 'package.json'];

/** Protects the control files inside a writable path. Expects a real path. */
export function protectControlFiles(path: GrantedPath, options: ProtectOptions): Protection {
  const { host } = path;
  const cwd = realOrGiven(options.cwd);
  const places = controlPlaces(options, cwd);
  const bundle = options.bundle === undefined ? [] : [realOrGiven(options.bundle)];
  // Files that a skill writes into a folder inside its own do not change what it may do.
  const around = places.find((place) => isInside(host, place)) ?? bundle.find((own) => own === host);
  if (around !== undefined) return refusedInside(path, around);
  const projects = isInside(cwd, host) ? foldersBetween(host, cwd) : [host];
  const missing = mustExist({ host, cwd, policy: options.policy }).filter(
    (one) => !existsSync(one) && !bundle.some((own) => isInside(one, own)),
  );
  if (missing.length > 0) return refusedMissing(host, missing);
  const kept = [
    ...projects.map((folder) => join(folder, POLICY_FILE)),
    ...[host, cwd].flatMap((folder) => [REGISTRY, OVERLAYS, SKILLS_LOCK].map((name) => join(folder, name))),
    ...[...new Set([...projects, cwd])].flatMap(skillFolders),
    ...places,
    ...bundle,
  ].filter((place) => isInside(place, host) && isPresent(place));
  const link = kept.find((place) => hasLink(place, host));
  if (link !== undefined) return refusedLink(link);
  return { inner: innerGrants(path, kept) };
}

/** Where agents look for skills in a project: their own folders, and the list of its plugins. */
function agentFolders(project: string): string[] {
  return [
    ...AGENT_FOLDER_NAMES.map((name) => join(project, AGENT_FOLDERS[name].project)),
    join(project, dirname(MARKETPLACE_FILE)),
  ];
}

/** A skill must not change the skills that agents find in a project, or those of the plugins that it lists. */
function skillFolders(project: string): string[] {
  // A plugin that is the project itself would make all of it read-only; its list still cannot be changed.
  const plugins = marketplaceRegistries(project).map(({ folder }) => folder);
  return [...agentFolders(project), ...plugins.filter((folder) => folder !== project)];
}

/** Files of the policy in force, files that it names, and our own code, wherever they are. */
function controlPlaces({ policy }: ProtectOptions, cwd: string): string[] {
  const roots = rulesOf(policy)
    .flatMap(({ publishers }) => publishers)
    .flatMap((publisher) => ('trustedRoot' in publisher ? [publisher.trustedRoot] : []));
  const programs = secretPrograms(policy);
  // Both a link and its target must be protected.
  const named = [...filesOf(policy), ...roots, ...programs.files, ...programs.folders].flatMap((file) => [
    withRealFolder(file),
    realOrGiven(file),
  ]);
  const project = [REGISTRY, OVERLAYS, SKILLS_LOCK].map((name) => join(cwd, name));
  const agents = foldersUpToRepository(cwd).flatMap(agentFolders);
  return [...new Set([...named, ...engineFolders(), ...project, ...agents, ...ownCode()])];
}

/** Wasm cells run the code in this folder. */
function engineFolders(): string[] {
  const folder = sharedEngines();
  return folder === undefined ? [] : [realOrGiven(folder)];
}

function ownCode(): string[] {
  const root = realOrGiven(packageRoot());
  const steps = root.split('/');
  const around = steps.indexOf('node_modules');
  // Its dependencies are next to it, and so are the links to it.
  if (around >= 0) return [steps.slice(0, around + 1).join('/')];
  return OWN_CODE.map((name) => join(root, name));
}

interface Around {
  host: string;
  cwd: string;
  policy: OperatorPolicy;
}

/**
 * Files and folders that a skill could create first, if it may write to the folder around them. Nothing can be mounted on
 * a path that does not exist, so they have to exist.
 */
function mustExist({ host, cwd, policy }: Around): string[] {
  const levels = isInside(cwd, host) ? foldersBetween(host, cwd) : [];
  const all = [
    // A policy in the folder of a skill is always refused.
    ...levels.filter((folder) => !isInBundle(folder)).map((folder) => join(folder, POLICY_FILE)),
    ...[REGISTRY, OVERLAYS, SKILLS_LOCK].map((name) => join(cwd, name)),
    // A skill could also create a .git, and thereby the root of a repository, in any folder that it may write to.
    ...[...levels, ...foldersUpToRepository(cwd)].flatMap(agentFolders),
    ...engineFolders(),
    ...secretPrograms(policy).folders.map(realOrGiven),
  ];
  return [...new Set(all)].filter((place) => isInside(place, host));
}

/** Both folders, and all folders between them. */
function foldersBetween(outer: string, inner: string): string[] {
  const steps = relative(outer, inner).split('/').filter(Boolean);
  return [outer, ...steps.map((_, at) => join(outer, ...steps.slice(0, at + 1)))];
}

/** Grants each protected place read-only, and pins every folder above it so that it cannot be moved away. */
function innerGrants(path: GrantedPath, kept: readonly string[]): GrantedPath[] {
  const guestOf = (place: string): string => path.guest + place.slice(path.host.length);
  const places = new Set(kept);
  const parents = new Set(
    kept.flatMap((place) => foldersBetween(path.host, dirname(place))).filter((way) => way !== path.host),
  );
  const pins = [...parents].filter((way) => ![...places].some((place) => isInside(way, place)));
  return [
    ...[...places].map((place): GrantedPath => {
      const kept = { host: place, guest: guestOf(place), access: 'read' } as const;
      return lstatSync(place).isFile() ? Object.assign(kept, { isFile: true }) : kept;
    }),
    // With a quota there is a broker, which itself protects the folders above every grant.
    ...(path.maxBytes === undefined
      ? pins.map((way): GrantedPath => ({
          host: way,
          guest: guestOf(way),
          access: 'read-write',
          isPin: true,
        }))
      : []),
  ];
}

function isPresent(place: string): boolean {
  return statsOf(place) !== undefined;
}

/** A path through a granted file does not exist. */
function statsOf(place: string): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** A link could be redirected, and nothing can be mounted on it. */
function hasLink(place: string, host: string): boolean {
  return foldersBetween(host, place)
    .slice(1)
    .some((one) => statsOf(one)?.isSymbolicLink() === true);
}

/** Resolves the folder but not the last segment, which may be a link. */
function withRealFolder(file: string): string {
  const path = resolve(file);
  return join(realOrGiven(dirname(path)), basename(path));
}

export function realOrGiven(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function refusedInside({ host }: GrantedPath, place: string): Protection {
  return {
    refusal: `it would let the skill change ${JSON.stringify(place)}, which controls what skills may do`,
    fix: `Grant ${JSON.stringify(host)} read-only, or pass another --workspace DIR.`,
  };
}

function refusedMissing(host: string, missing: readonly string[]): Protection {
  const isFile = (one: string): boolean => [POLICY_FILE, SKILLS_LOCK].includes(basename(one));
  const folders = missing.filter((one) => !isFile(one));
  const files = missing.filter(isFile);
  const commands = [
    ...(folders.length > 0 ? [`mkdir -p ${folders.map(shellWord).join(' ')}`] : []),
    ...(files.length > 0 ? [`touch ${files.map(shellWord).join(' ')}`] : []),
  ];
  return {
    refusal: `Skillcell looks for policies and skills in ${JSON.stringify(host)}, and the skill could put its own there`,
    fix: `Pass another --workspace DIR, or create empty ones, which are then protected: ${commands.join(' && ')}`,
  };
}

function refusedLink(place: string): Protection {
  return {
    refusal: `${JSON.stringify(place)} is reached through a symbolic link, which the skill could replace`,
    fix: `Replace the link with a real file or folder, or pass another --workspace DIR.`,
  };
}
