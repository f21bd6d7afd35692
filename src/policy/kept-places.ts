/**
 * Files by which the operator decides over skills: policies, registries, what policies name, and the code of Skillcell
 * itself. A grant that lets a skill write around them keeps them readable only, or is refused where that cannot be kept.
 *
 * @module
 */
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { shellWord } from '../manifest/quote.ts';
import { packageRoot } from '../package-root.ts';
import { filesOf, rulesOf } from './combine.ts';
import { POLICY_FILE } from './find-policy.ts';
import type { GrantedPath } from './grant.ts';
import type { OperatorPolicy } from './operator.ts';

export interface KeepOptions {
  policy: OperatorPolicy;
  /** The working directory, whose skills and policies count. */
  cwd: string;
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
  const around = decisivePlaces(options, cwd).find((place) => isInside(host, place));
  if (around !== undefined) return refusedInside(path, around);
  const projects = isInside(cwd, host) ? foldersBetween(host, cwd) : [host];
  const missing = isInside(cwd, host) ? mustExist(projects, cwd).filter((one) => !existsSync(one)) : [];
  if (missing.length > 0) return refusedMissing(host, missing);
  const kept = [
    ...projects.map((folder) => join(folder, POLICY_FILE)),
    ...[host, cwd].map((folder) => join(folder, REGISTRY)),
    ...decisivePlaces(options, cwd),
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
  const secrets = (policy.secrets ?? []).flatMap((source) =>
    typeof source === 'object' && 'file' in source ? [source.file] : [],
  );
  const named = [...filesOf(policy), ...roots, ...secrets].map(located);
  return [...named, join(cwd, REGISTRY), ...ownCode()];
}

function ownCode(): string[] {
  const root = realOrGiven(packageRoot());
  const around = dirname(root);
  // Its dependencies lie beside it, and are as much its code.
  if (basename(around) === 'node_modules') return [around];
  return OWN_CODE.map((name) => join(root, name));
}

function mustExist(projects: readonly string[], cwd: string): string[] {
  return [...projects.map((folder) => join(folder, POLICY_FILE)), join(cwd, REGISTRY)];
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
  return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
}

/** A link could be made to lead elsewhere, and nothing can be mounted on it. */
function hasLink(place: string, host: string): boolean {
  return foldersBetween(host, place)
    .slice(1)
    .some((one) => lstatSync(one, { throwIfNoEntry: false })?.isSymbolicLink() === true);
}

/** With a real folder, and its own name as it is: that may be a link. */
function located(file: string): string {
  const path = resolve(file);
  return join(realOrGiven(dirname(path)), basename(path));
}

function realOrGiven(path: string): string {
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
  const folders = missing.filter((one) => basename(one) === REGISTRY);
  const files = missing.filter((one) => basename(one) !== REGISTRY);
  const commands = [
    ...(folders.length > 0 ? [`mkdir ${folders.map(shellWord).join(' ')}`] : []),
    ...(files.length > 0 ? [`touch ${files.map(shellWord).join(' ')}`] : []),
  ];
  return {
    refusal: `the working directory lies in ${JSON.stringify(host)}, and the skill could put a policy or skills of its own there`,
    fix: `Pass another --workspace DIR, or make empty ones, which are then kept as they are: ${commands.join(' && ')}`,
  };
}

function refusedLink(place: string): Keeping {
  return {
    refusal: `${JSON.stringify(place)} is reached by a symbolic link, which the skill could replace`,
    fix: `Put a real file or folder there instead of the link, or pass another --workspace DIR.`,
  };
}
