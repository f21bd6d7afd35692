/**
 * Reads a bundle, its manifest and its lock, and stages it. All of it is decided on by a stranger, so what is not surely
 * small is read by a worker thread.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { FileDigests, LockState } from './bundle.ts';
import { readDescription } from './bundle-texts.ts';
import { capabilitySet } from './capability-set.ts';
import { findDrift } from './drift.ts';
import { findEntry, requireDockerfile } from './entry.ts';
import { identify, type IdentifiedDescription } from './identify.ts';
import type { Finding } from './inspection.ts';
import { compareLock, parseLock, type Lock } from './lock.ts';
import { readBundle, type BundleFiles, type ReadLimits } from './read-bundle.ts';
import type { BundleLocation } from './load-bundle.ts';
import type { Store } from './store.ts';

/** What is known of a bundle when it has been read and staged. */
export interface SourceFacts {
  files: FileDigests;
  digest: string;
  description: IdentifiedDescription;
  checked: Checked;
  entry: string;
  stagedDir: string;
  lock?: Uint8Array;
  signature?: Uint8Array;
}

/** Whether there is a lock that fits, and the image that it pins. */
export interface Checked {
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

export interface SourceOptions {
  store: Store;
  /** A new lock is about to be made. */
  ignoresLock: boolean;
  limits?: ReadLimits;
  /** Looks at what was read before anything is parsed. */
  onRead?: (source: BundleFiles) => void;
}

/** Where the bundle lies, and what it is called there. */
export type SourceLocation = Pick<BundleLocation, 'dir' | 'ids' | 'aliases'>;

/** On this thread, and as long as it takes. */
export function readSourceHere(location: SourceLocation, options: SourceOptions): SourceFacts {
  const source = readBundle(location.dir, options.limits);
  options.onRead?.(source);
  const description = identify(readDescription(source.contents, location.dir), location);
  const { manifest } = description;
  const checked: Checked = options.ignoresLock ? { state: 'unlocked' } : checkLock(source, manifest);
  const { files, digest, lock, signature } = source;
  const entry = findEntry(manifest, files);
  requireDockerfile(manifest, files);
  const stagedDir = options.store.stage(source);
  return {
    files,
    digest,
    description,
    checked,
    entry,
    stagedDir,
    ...(lock ? { lock } : {}),
    ...(signature ? { signature } : {}),
  };
}
