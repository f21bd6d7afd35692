/**
 * From a folder to a bundle that may be run, in one readable line of steps:
 * read, parse, lock, stage, inspect, compare.
 *
 * @module
 */
import { basename, dirname } from 'node:path';
import { SkillError } from '../errors.ts';
import type { ParsedManifest } from '../manifest/manifest.ts';
import { parseManifest } from '../manifest/parse.ts';
import { parseSkillMd } from '../manifest/skill-md.ts';
import type { Bundle, FileDigests, LockState, Origin } from './bundle.ts';
import { capabilitySet } from './capability-set.ts';
import { findDrift } from './drift.ts';
import { findEntry } from './entry.ts';
import type { Inspection } from './inspection.ts';
import { compareLock, parseLock } from './lock.ts';
import { readBundle } from './read-bundle.ts';
import type { BundleFiles } from './read-bundle.ts';
import type { Store } from './store.ts';

export interface BundleLocation {
  ref: string;
  /** Real path of the bundle folder. */
  dir: string;
  origin: Origin;
}

/** Static inspection of a staged copy. Parsing hostile source is done in a jail, so it is handed in. */
export type Inspect = (stagedDir: string, files: FileDigests, digest: string) => Promise<Inspection>;

export interface LoadDeps {
  store: Store;
  inspect: Inspect;
}
