/**
 * Reads a bundle, its manifest and its lock, and stages it. All of it is untrusted input, so anything that is not
 * certainly small is read on a worker thread.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { SCRIPT_PARAMETERS } from '../manifest/skill-md.ts';
import type { FileDigests, LockState } from './bundle.ts';
import { readDescription } from './bundle-texts.ts';
import { capabilitySet } from './capability-set.ts';
import { findDrift } from './drift.ts';
import { assertFetched } from './fetched.ts';
import { findEntry, kindOf, refuseIgnoredEntry, requireDockerfile } from './entry.ts';
import { identify, type IdentifiedDescription } from './identify.ts';
import type { Finding } from './inspection.ts';
import type { LockedPackages } from './locked-packages.ts';
import { compareLock, parseLock, type Lock } from './lock.ts';
import { findScripts, type ScriptFile } from './scripts.ts';
import { readBundle, type BundleFiles, type ReadLimits } from './read-bundle.ts';
import type { BundleLocation } from './load-bundle.ts';
import type { Store } from './store.ts';
import type { Kind } from '../vocabulary/kinds.ts';

/** The facts about a bundle that has been read and staged. */
export interface SourceFacts {
  files: FileDigests;
  digest: string;
  description: IdentifiedDescription;
  checked: LockCheck;
  kind: Kind;
  /** Of a skill of the kind `script`. */
  scripts: ScriptFile[];
  entry: string;
  stagedDir: string;
  lock?: Uint8Array;
  signature?: Uint8Array;
}

/** The state of the lock, and the image and packages that it pins. */
export interface LockCheck {
  state: LockState;
  image?: string;
  packages?: LockedPackages;
}

function checkLock(source: BundleFiles, manifest: Manifest): LockCheck {
  if (source.lock === undefined) return { state: 'unlocked' };
  const lock = parseLock(source.lock.toString('utf8'));
  try {
    compareLock(lock, source.files, capabilitySet(manifest));
  } catch (error) {
    throw error instanceof SkillError ? explainDrift(error, { lock, manifest, source }) : error;
  }
  const { image, packages } = lock;
  return {
    state: 'locked',
    ...(image === undefined ? {} : { image }),
    ...(packages === undefined ? {} : { packages }),
  };
}

/** Adds what a changed manifest means for the code, as far as the lock recorded the code. */
function explainDrift(
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

/** A call of a script skill is a command, whatever its manifest says. */
function scriptManifest(manifest: Manifest): Manifest {
  return { ...manifest, parameters: SCRIPT_PARAMETERS, outputs: {} };
}

export interface SourceOptions {
  store: Store;
  /** Skips the check, because a new lock is about to be written. */
  ignoresLock: boolean;
  limits?: ReadLimits;
  /** Called with the files before anything is parsed. */
  onRead?: (source: BundleFiles) => void;
}

/** The folder of the bundle, and its names there. */
export type SourceLocation = Pick<BundleLocation, 'dir' | 'ids' | 'aliases' | 'isLarge'>;

/** Runs on this thread, without a deadline. */
export function readSourceHere(location: SourceLocation, options: SourceOptions): SourceFacts {
  const source = readBundle(location.dir, options.limits);
  assertFetched(options.store.home, location.dir, source);
  options.onRead?.(source);
  const identified = identify(readDescription(source.contents, location.dir), location);
  const scripts = source.contents.has('SKILL.md') ? findScripts(source.contents) : [];
  const kind = kindOf(identified.manifest, source.files, scripts);
  const manifest = kind === 'script' ? scriptManifest(identified.manifest) : identified.manifest;
  const description = { ...identified, manifest, warnings: [...source.warnings, ...identified.warnings] };
  refuseIgnoredEntry(manifest, source);
  const checked: LockCheck = options.ignoresLock ? { state: 'unlocked' } : checkLock(source, manifest);
  const { files, digest, lock, signature } = source;
  const entry = kind === 'function' ? findEntry(manifest, files) : '';
  requireDockerfile(manifest, files);
  const stagedDir = options.store.stage({ ...source, kind });
  return {
    files,
    digest,
    description,
    checked,
    kind,
    scripts: kind === 'script' ? scripts : [],
    entry,
    stagedDir,
    ...(lock ? { lock } : {}),
    ...(signature ? { signature } : {}),
  };
}
