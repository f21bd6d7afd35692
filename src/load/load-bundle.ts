/**
 * Turns a folder into a bundle that may be run: read, parse, compare with the lock, stage, inspect, compare with the
 * code.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Offload } from '../offload/offload.ts';
import { packageBuild } from '../package-root.ts';
import type { Bundle, FileDigests, LockState } from './bundle.ts';
import type { Kind } from '../vocabulary/kinds.ts';
import type { Origin } from '../vocabulary/origins.ts';
import { capabilitySet } from './capability-set.ts';
import { runsPython } from './entry.ts';
import { fetchedDir } from './fetched.ts';
import { realOrGiven } from './registries.ts';
import { lookForCommands } from './look-for-commands.ts';
import { fixForDrift } from './drift-fix.ts';
import { findDrift } from './drift.ts';
import type { Inspection } from './inspection.ts';
import { BUNDLED_PREFIX } from './locate.ts';
import { formatLock, makeLock, parseLock } from './lock.ts';
import type { LockedPackages } from './locked-packages.ts';
import { npmPackagesOf } from './npm-packages.ts';
import { applyOverlay, chooseOverlay, sorted, type OverlayPlaces, type WithOverlay } from './overlay.ts';
import { requirementsOf } from './requirements.ts';
import { readSource } from './read-source.ts';
import type { SourceFacts } from './source.ts';
import type { Store } from './store.ts';

const LOCK_COMMAND = '`skillcell lock`';

/** A skill that was found: its id, folder and origin. */
export interface BundleLocation {
  /** The id or path that the caller gave. */
  ref: string;
  /** Real path of the bundle folder. */
  dir: string;
  /** Its ids in the registries; absent if it is in none. */
  ids?: readonly string[];
  /** Other ids that refer to it. */
  aliases?: readonly string[];
  /** Folder of the bundled skill that gives way to it. */
  shadows?: string | undefined;
  origin: Origin;
  /** True if it is known to be too large for the main thread; absent: reading it finds out. */
  isLarge?: boolean | undefined;
}

/** Static inspection of a staged copy. Injected, because hostile source is parsed in a jail. */
export type Inspect = (stagedDir: string, files: FileDigests, run: WaysToRun) => Promise<Inspection>;

/** The facts that select a parser for the source. */
export interface WaysToRun extends Pick<Manifest, 'execution'> {
  entry: string;
}

export interface LoadDeps {
  store: Store;
  /** Reads large bundles on worker threads. */
  offload: Offload;
  inspect: Inspect;
  /** Digest of the container image that a new lock pins, if the skill has one. */
  imageToPin?: (bundle: Bundle) => Promise<string | undefined>;
  /** The packages that a new lock pins, given those of the lock that it replaces. */
  packagesToPin?: (bundle: Bundle, before: LockedPackages | undefined) => LockedPackages | undefined;
}

export interface LoadOptions {
  /** Where overlays of Agent Skills folders are; absent: none is read. */
  overlays?: OverlayPlaces;
  /** Reports undeclared acts as warnings instead of refusing the load, for runs that record what a skill needs. */
  toleratesDrift?: boolean;
  /** The id of a folder that is in no registry; a skill that declares another name is refused. */
  id?: string;
}

/** Loads a bundle, or throws `manifest_invalid` or `manifest_drift`. */
export async function loadBundle(
  location: BundleLocation,
  deps: LoadDeps,
  options: LoadOptions = {},
): Promise<Bundle> {
  const source = await readSource(location, { ...deps, ignoresLock: false }).catch(namingFolder(location));
  return examine({ location, source, ...options }, deps);
}

/** Lets a fix that says to lock the bundle name its folder. */
function namingFolder({ dir }: BundleLocation): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof SkillError) || !error.fix.includes(LOCK_COMMAND)) throw error;
    const fix = error.fix.replace(LOCK_COMMAND, `\`skillcell lock ${shellWord(dir)}\``);
    throw new SkillError(error.code, error.message, { fix, detail: error.detail, cause: error.cause });
  };
}

/** The text of a new `skill.lock` for the current bundle, and its requirements. Of an older lock, only pins are kept. */
export async function lockBundle(
  location: BundleLocation,
  deps: LoadDeps,
): Promise<{ text: string; requirements: string[] }> {
  const source = await readSource(location, { ...deps, ignoresLock: true });
  const bundle = await examine({ location, source }, deps);
  const image = await deps.imageToPin?.(bundle);
  const pinned = image === undefined ? {} : { image };
  const before = packagesBefore(source.lock);
  const manifest = withLockedRequirements(bundle.kind, bundle.manifest, before);
  const packages = deps.packagesToPin?.({ ...bundle, manifest }, before);
  const npm = npmPackagesOf(bundle.stagedDir, bundle.files);
  const text = formatLock(
    makeLock({ ...bundle, ...pinned, packages, npm, capabilities: capabilitySet(bundle.manifest) }),
  );
  const isPython = runsPython(bundle);
  const paths = Object.keys(bundle.files);
  return { text, requirements: isPython ? requirementsOf({ ...bundle, paths }) : [] };
}

/** A lock that cannot be read pins nothing. */
function packagesBefore(lock: Uint8Array | undefined): LockedPackages | undefined {
  if (!lock) return undefined;
  try {
    return parseLock(Buffer.from(lock).toString('utf8')).packages;
  } catch {
    return undefined;
  }
}

interface ReadSkill extends LoadOptions {
  location: BundleLocation;
  source: SourceFacts;
}

async function examine(skill: ReadSkill, deps: LoadDeps): Promise<Bundle> {
  const { location, source } = skill;
  const { files, digest, kind, scripts, entry, stagedDir } = source;
  const { state: lock, image } = source.checked;
  const { warnings, instructions } = source.description;
  const { manifest, packages, applied, notes } = underOverlay(skill);
  const inspection = await deps.inspect(stagedDir, files, { entry, execution: manifest.execution });
  const paths = Object.keys(files);
  const commands = await lookForCommands(
    { stagedDir, paths, kind },
    { offload: deps.offload, home: deps.store.home, build: packageBuild() },
  );
  const facts = { manifest, kind, inspection, commands, paths };
  const found = findDrift(facts);
  if (found.drift.length > 0 && !skill.toleratesDrift)
    throw driftError(manifest.name, found.drift, fixForDrift(facts, location.dir));
  return {
    manifest,
    kind,
    ...(source.description.aliases.length > 0 ? { aliases: source.description.aliases } : {}),
    origin: location.origin,
    sourceDir: location.dir,
    stagedDir,
    files,
    digest,
    lock,
    ...(image === undefined ? {} : { image }),
    ...(packages === undefined ? {} : { lockedPackages: packages }),
    ...(applied ? { overlay: applied } : {}),
    ...(lock === 'locked' && source.lock && source.signature
      ? { vouched: { lock: Buffer.from(source.lock), signature: Buffer.from(source.signature) } }
      : {}),
    entry,
    inspection,
    ...(kind === 'function' ? {} : { scripts, commands }),
    ...(instructions === undefined ? {} : { instructions }),
    warnings: [
      ...shadowWarnings(location),
      ...warnings,
      ...notes,
      ...lockWarnings(lock, location.dir, deps.store.home),
      ...found.drift,
      ...found.warnings,
    ],
  };
}

/** The manifest and packages of these files, with what an operator wrote beside an Agent Skills folder. */
function underOverlay({ location, source, overlays }: ReadSkill): Pick<
  WithOverlay,
  'applied' | 'packages'
> & {
  manifest: Manifest;
  notes: string[];
} {
  const { kind, digest, checked, description } = source;
  const manifest = withLockedRequirements(kind, description.manifest, checked.packages);
  const bundle = { manifest, kind, digest, sourceDir: location.dir };
  const chosen = overlays ? chooseOverlay(bundle, overlays) : { warnings: [] };
  const { packages, warnings: notes, ...found } = applyOverlay(bundle, chosen);
  return { ...found, packages: packages ?? checked.packages, notes };
}

/** The lock of an Agent Skills folder also says what was installed for it, because nothing else in it does. */
function withLockedRequirements(
  kind: Kind,
  manifest: Manifest,
  locked: LockedPackages | undefined,
): Manifest {
  if (kind !== 'script' || !locked) return manifest;
  return { ...manifest, requirements: sorted([...manifest.requirements, ...locked.requirements]) };
}

/** Says which of two skills with the same id is used. */
export function shadowWarnings({
  ref,
  dir,
  shadows,
}: Pick<BundleLocation, 'ref' | 'dir' | 'shadows'>): string[] {
  if (shadows === undefined) return [];
  const both = `"${ref}" is the skill in ${JSON.stringify(dir)}, not the bundled one in ${JSON.stringify(shadows)}`;
  return [`${both}, which is "${BUNDLED_PREFIX}${ref}".`];
}

function lockWarnings(lock: LockState, dir: string, home: string): string[] {
  // Every byte of a fetched skill is pinned, and writing a lock into it would change it.
  if (lock === 'locked' || dir.startsWith(`${realOrGiven(fetchedDir(home))}/`)) return [];
  const command = `skillcell lock ${shellWord(dir)}`;
  return [`The bundle has no skill.lock, so changes to it go unnoticed. Create one with \`${command}\`.`];
}

function driftError(name: string, drift: string[], fix: string): SkillError {
  return new SkillError(
    'manifest_drift',
    `The code of "${name}" is not covered by its manifest: ${drift.join(' ')}`,
    {
      fix,
      detail: { drift },
    },
  );
}
