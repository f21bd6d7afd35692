/**
 * From a folder to a bundle that may be run, in one readable line of steps:
 * read, parse, compare with the lock, stage, inspect, compare with the code.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { Bundle, FileDigests, LockState, Origin } from './bundle.ts';
import { readDescription } from './bundle-texts.ts';
import { identify, type IdentifiedDescription } from './identify.ts';
import { capabilitySet } from './capability-set.ts';
import { findDrift } from './drift.ts';
import { findEntry, requireDockerfile } from './entry.ts';
import type { Finding, Inspection } from './inspection.ts';
import { compareLock, formatLock, makeLock, parseLock, type Lock } from './lock.ts';
import { readBundle } from './read-bundle.ts';
import type { BundleFiles } from './read-bundle.ts';
import type { Store } from './store.ts';

export interface BundleLocation {
  /** What people call it by: an id or a path. */
  ref: string;
  /** Real path of the bundle folder. */
  dir: string;
  /** Ids that it has in the registries; absent: it lies in none. */
  ids?: readonly string[];
  /** Other ids that stand for it. */
  aliases?: readonly string[];
  origin: Origin;
}

/** Static inspection of a staged copy. Hostile source is parsed in a jail, so the means are handed in. */
export type Inspect = (stagedDir: string, files: FileDigests, run: WaysToRun) => Promise<Inspection>;

/** What decides which parser reads the source. */
export interface WaysToRun extends Pick<Manifest, 'execution'> {
  entry: string;
}

export interface LoadDeps {
  store: Store;
  inspect: Inspect;
  /** Digest of the container image that a new lock of a bundle pins, when there is one. */
  imageToPin?: (bundle: Bundle) => Promise<string | undefined>;
}

export interface LoadOptions {
  /** Code that its manifest does not cover is a warning: somebody is about to find out what it needs. */
  toleratesDrift?: boolean;
}

/** Loads a bundle, or throws `manifest_invalid` or `manifest_drift`. */
export async function loadBundle(
  location: BundleLocation,
  deps: LoadDeps,
  options: LoadOptions = {},
): Promise<Bundle> {
  const source = readBundle(location.dir);
  const description = identify(readDescription(source.contents, location.dir), location);
  const lock = checkLock(source, description.manifest);
  return examine({ location, source, description, lock, ...options }, deps);
}

/** The text of a new `skill.lock` for the bundle as it is now, whatever an older lock says. */
export async function lockBundle(location: BundleLocation, deps: LoadDeps): Promise<string> {
  const source = readBundle(location.dir);
  const description = identify(readDescription(source.contents, location.dir), location);
  const bundle = await examine({ location, source, description, lock: { state: 'unlocked' } }, deps);
  const image = await deps.imageToPin?.(bundle);
  const pinned = image === undefined ? {} : { image };
  return formatLock(makeLock({ ...bundle, ...pinned, capabilities: capabilitySet(bundle.manifest) }));
}

interface ReadSkill extends LoadOptions {
  location: BundleLocation;
  source: BundleFiles;
  description: IdentifiedDescription;
  lock: Checked;
}

/** Whether there is a lock that fits, and the image that it pins. */
interface Checked {
  state: LockState;
  image?: string;
}

function checkLock(source: BundleFiles, manifest: Manifest): Checked {
  if (source.lock === undefined) return { state: 'unlocked' };
  const lock = parseLock(source.lock.toString('utf8'));
  try {
    compareLock(lock, source.files, capabilitySet(manifest));
  } catch (error) {
    throw error instanceof SkillError ? explained(error, { lock, manifest, source }) : error;
  }
  return { state: 'locked', ...(lock.image === undefined ? {} : { image: lock.image }) };
}

/** What a change of the manifest means for the code, as far as the lock knows the code. */
function explained(
  error: SkillError,
  known: { lock: Lock; manifest: Manifest; source: BundleFiles },
): SkillError {
  const { lock, manifest, source } = known;
  const locked = (values: string[]): Finding[] => values.map((value) => ({ value, at: 'as locked' }));
  const { modules, interfaces, env, hosts } = lock.inspection;
  const inspection = {
    modules: locked(modules),
    interfaces: locked(interfaces),
    env: locked(env),
    hosts: locked(hosts),
    unparsed: [],
  };
  const { drift } = findDrift({ manifest, inspection, paths: Object.keys(source.files) });
  if (drift.length === 0) return error;
  return new SkillError(error.code, [error.message, ...drift].join(' '), {
    fix: error.fix,
    detail: { ...error.detail, drift },
    cause: error,
  });
}

async function examine(skill: ReadSkill, deps: LoadDeps): Promise<Bundle> {
  const { location, source } = skill;
  const { state: lock, image } = skill.lock;
  const { manifest, warnings, instructions } = skill.description;
  const { files, digest } = source;
  const entry = findEntry(manifest, files);
  requireDockerfile(manifest, files);
  const stagedDir = deps.store.stage(source);
  const inspection = await deps.inspect(stagedDir, files, { entry, execution: manifest.execution });
  const found = findDrift({ manifest, inspection, paths: Object.keys(files) });
  if (found.drift.length > 0 && !skill.toleratesDrift) throw driftError(manifest.name, found.drift);
  return {
    manifest,
    ...(skill.description.aliases.length > 0 ? { aliases: skill.description.aliases } : {}),
    origin: location.origin,
    sourceDir: location.dir,
    stagedDir,
    files,
    digest,
    lock,
    ...(image === undefined ? {} : { image }),
    ...(lock === 'locked' && source.lock && source.signature
      ? { vouched: { lock: source.lock, signature: source.signature } }
      : {}),
    entry,
    inspection,
    ...(instructions === undefined ? {} : { instructions }),
    warnings: [...warnings, ...lockWarnings(lock), ...found.drift, ...found.warnings],
  };
}

function lockWarnings(lock: LockState): string[] {
  if (lock === 'locked') return [];
  return ['The bundle has no skill.lock, so a change of it goes unnoticed; make one with `skillcell lock`.'];
}

function driftError(name: string, drift: string[]): SkillError {
  return new SkillError(
    'manifest_drift',
    `The code of "${name}" is not covered by its manifest: ${drift.join(' ')}`,
    {
      fix: 'Declare what the code needs under "capabilities" or "env_vars", or remove it from the code.',
      detail: { drift },
    },
  );
}
