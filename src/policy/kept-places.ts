/**
 * Files by which the operator decides over skills: policies, registries, what policies name, and the code of Skillcell
 * itself. A grant that lets a skill write around them keeps them readable only, or is refused where that cannot be kept.
 *
 * @module
 */
import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { sharedEngines } from '../load/home.ts';
import { shellWord } from '../manifest/quote.ts';
import { packageRoot } from '../package-root.ts';
import { filesOf, rulesOf } from './combine.ts';
import { isInBundle, POLICY_FILE } from './find-policy.ts';
import type { GrantedPath } from './grant.ts';
import type { OperatorPolicy } from './operator.ts';
import { secretPrograms } from './secret-places.ts';

export interface KeepOptions {
  policy: OperatorPolicy;
  /** The working directory, whose skills and policies count. */
  cwd: string;
  /** The folder of the skill: its manifest says what it may do. */
  bundle?: string | undefined;
}

export type Keeping =
  /** What has to be granted inside of the path, so that its rule holds there. */
  { inner: GrantedPath[] } | { refusal: string; fix: string };

/** The project's own skills. */
const REGISTRY = 'skills';
/** What runs when Skillcell is started, where it is no installed package. */
const OWN_CODE = ['bin', 'dist', 'src', 'guest', 'skills', 'node_modules', 'package.json'];

/** How the decisive files stay as they are when a skill may write to this path, which is real. */
export function keepDecisiveFiles(path: GrantedPath, options: KeepOptions): Keeping {
  const { host } = path;
  const cwd = realOrGiven(options.cwd);
  const places = decisivePlaces(options, cwd);
  const bundle = options.bundle === undefined ? [] : [realOrGiven(options.bundle)];
  // What a skill puts into a folder inside of its own changes nothing of what it may do.
  const around = places.find((place) => isInside(host, place)) ?? bundle.find((own) => own === host);
  if (around !== undefined) return refusedInside(path, around);
  const projects = isInside(cwd, host) ? foldersBetween(host, cwd) : [host];
  const missing = mustExist({ host, cwd, policy: options.policy }).filter(
    (one) => !existsSync(one) && !bundle.some((own) => isInside(one, own)),
  );
  if (missing.length > 0) return refusedMissing(host, missing);
  const kept = [
    ...projects.map((folder) => join(folder, POLICY_FILE)),
    ...[host, cwd].map((folder) => join(folder, REGISTRY)),
    ...places,
    ...bundle,
  ].filter((place) => isInside(place, host) && isThere(place));
  const link = kept.find((place) => hasLink(place, host));
  if (link !== undefined) return refusedLink(link);
  return { inner: innerGrants(path, kept) };
}

/** Wherever they lie: files of the policy in force, what it names, and our own code. */
function decisivePlaces({ policy }: KeepOptions, cwd: string): string[] {
  const roots = rulesOf(policy)
    .flatMap(({ publishers }) => publishers)
    .flatMap((publisher) => ('trustedRoot' in publisher ? [publisher.trustedRoot] : []));
  const programs = secretPrograms(policy);
  // A link decides as well as what it leads to.
  const named = [...filesOf(policy), ...roots, ...programs.files, ...programs.folders].flatMap((file) => [
    located(file),
    realOrGiven(file),
  ]);
  return [...new Set([...named, ...engines(), join(cwd, REGISTRY), ...ownCode()])];
}

/** Wasm cells run what lies there. */
function engines(): string[] {
  const folder = sharedEngines();
  return folder === undefined ? [] : [realOrGiven(folder)];
}

function ownCode(): string[] {
  const root = realOrGiven(packageRoot());
  const steps = root.split('/');
  const around = steps.indexOf('node_modules');
  // Its dependencies lie beside it, and so does what leads to it.
  if (around >= 0) return [steps.slice(0, around + 1).join('/')];
  return OWN_CODE.map((name) => join(root, name));
}

interface Around {
  host: string;
  cwd: string;
  policy: OperatorPolicy;
}

/** What a skill could be the first to make, if it may write to the folder around it. */
function mustExist({ host, cwd, policy }: Around): string[] {
  const folders = [...engines(), ...secretPrograms(policy).folders.map(realOrGiven)];
  const inHost = [...new Set(folders)].filter((folder) => isInside(folder, host));
  if (!isInside(cwd, host)) return inHost;
  // A policy in the folder of a skill is refused anyway.
  const projects = foldersBetween(host, cwd).filter((folder) => !isInBundle(folder));
  return [...projects.map((folder) => join(folder, POLICY_FILE)), join(cwd, REGISTRY), ...inHost];
}

/** Both folders and all between them. */
function foldersBetween(outer: string, inner: string): string[] {
  const steps = relative(outer, inner).split('/').filter(Boolean);
  return [outer, ...steps.map((_, at) => join(outer, ...steps.slice(0, at + 1)))];
}

/** Each kept place as readable only, and every folder on the way to it, which then cannot be moved away. */
function innerGrants(path: GrantedPath, kept: readonly string[]): GrantedPath[] {
  const guestOf = (place: string): string => path.guest + place.slice(path.host.length);
  const places = new Set(kept);
  const onTheWay = new Set(
    kept.flatMap((place) => foldersBetween(path.host, dirname(place))).filter((way) => way !== path.host),
  );
  const pins = [...onTheWay].filter((way) => ![...places].some((place) => isInside(way, place)));
  return [
    ...[...places].map((place): GrantedPath => {
      const kept = { host: place, guest: guestOf(place), access: 'read' } as const;
      return lstatSync(place).isFile() ? Object.assign(kept, { isFile: true }) : kept;
    }),
    // With a quota there is a broker, which keeps the way to every grant by itself.
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

function isThere(place: string): boolean {
  return statsOf(place) !== undefined;
}

/** Nothing lies below a granted file, and a path through one is not there. */
function statsOf(place: string): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** A link could be made to lead elsewhere, and nothing can be mounted on it. */
function hasLink(place: string, host: string): boolean {
  return foldersBetween(host, place)
    .slice(1)
    .some((one) => statsOf(one)?.isSymbolicLink() === true);
}

/** With a real folder, and its own name as it is: that may be a link. */
function located(file: string): string {
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

function refusedInside({ host }: GrantedPath, place: string): Keeping {
  return {
    refusal: `it would let the skill change ${JSON.stringify(place)}, which decides what skills may do`,
    fix: `Grant ${JSON.stringify(host)} for reading only, or pass another --workspace DIR.`,
  };
}

function refusedMissing(host: string, missing: readonly string[]): Keeping {
  const folders = missing.filter((one) => basename(one) !== POLICY_FILE);
  const files = missing.filter((one) => basename(one) === POLICY_FILE);
  const commands = [
    ...(folders.length > 0 ? [`mkdir -p ${folders.map(shellWord).join(' ')}`] : []),
    ...(files.length > 0 ? [`touch ${files.map(shellWord).join(' ')}`] : []),
  ];
  return {
    refusal: `what decides over skills is looked for in ${JSON.stringify(host)}, and the skill could put a policy or skills of its own there`,
    fix: `Pass another --workspace DIR, or make empty ones, which are then kept as they are: ${commands.join(' && ')}`,
  };
}

function refusedLink(place: string): Keeping {
  return {
    refusal: `${JSON.stringify(place)} is reached by a symbolic link, which the skill could replace`,
    fix: `Put a real file or folder there instead of the link, or pass another --workspace DIR.`,
  };
}
