/**
 * From a folder to a bundle that may be run, in one readable line of steps:
 * read, parse, compare with the lock, stage, inspect, compare with the code.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { Offload } from '../offload/offload.ts';
import type { Bundle, FileDigests, LockState, Origin } from './bundle.ts';
import { capabilitySet } from './capability-set.ts';
import { lookForCommands } from './look-for-commands.ts';
import { findDrift } from './drift.ts';
import type { Inspection } from './inspection.ts';
import { formatLock, makeLock } from './lock.ts';
import { readSource } from './read-source.ts';
import type { SourceFacts } from './source.ts';
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
  /** Where large bundles are read. */
  offload: Offload;
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
  const source = await readSource(location, { ...deps, ignoresLock: false });
  return examine({ location, source, ...options }, deps);
}

/** The text of a new `skill.lock` for the bundle as it is now, whatever an older lock says. */
export async function lockBundle(location: BundleLocation, deps: LoadDeps): Promise<string> {
  const source = await readSource(location, { ...deps, ignoresLock: true });
  const bundle = await examine({ location, source }, deps);
  const image = await deps.imageToPin?.(bundle);
  const pinned = image === undefined ? {} : { image };
  return formatLock(makeLock({ ...bundle, ...pinned, capabilities: capabilitySet(bundle.manifest) }));
}

interface ReadSkill extends LoadOptions {
  location: BundleLocation;
  source: SourceFacts;
}

async function examine(skill: ReadSkill, deps: LoadDeps): Promise<Bundle> {
  const { location, source } = skill;
  const { files, digest, entry, stagedDir } = source;
  const { state: lock, image } = source.checked;
  const { manifest, warnings, instructions } = source.description;
  const inspection = await deps.inspect(stagedDir, files, { entry, execution: manifest.execution });
  const paths = Object.keys(files);
  const commands = await lookForCommands(stagedDir, paths, deps.offload);
  const found = findDrift({ manifest, inspection, commands, paths });
  if (found.drift.length > 0 && !skill.toleratesDrift) throw driftError(manifest.name, found.drift);
  return {
    manifest,
    ...(source.description.aliases.length > 0 ? { aliases: source.description.aliases } : {}),
    origin: location.origin,
    sourceDir: location.dir,
    stagedDir,
    files,
    digest,
    lock,
    ...(image === undefined ? {} : { image }),
    ...(lock === 'locked' && source.lock && source.signature
      ? { vouched: { lock: Buffer.from(source.lock), signature: Buffer.from(source.signature) } }
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
