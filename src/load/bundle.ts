/**
 * A bundle that was read once, hashed while reading, and staged where only verified bytes are:
 * what is checked is what runs.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';
import type { Inspection } from './inspection.ts';
import type { Pins } from './pins.ts';

export type Origin = 'bundled' | 'project' | 'installed' | 'external';

/** sha256 of every file by its path inside the bundle, `/` as separator, sorted. */
export type FileDigests = Record<string, string>;

export type LockState = 'locked' | 'unlocked';

export interface Bundle {
  manifest: Manifest;
  /** Other names that it can be called by, or that it claims; rules for any of them count. */
  aliases?: readonly string[];
  origin: Origin;
  /** Where the user keeps it. Shown to people, never used to run. */
  sourceDir: string;
  /** Verified copy; what a cell sees. */
  stagedDir: string;
  files: FileDigests;
  /** sha256 over the sorted file digests. */
  digest: string;
  lock: LockState;
  /** Digest of the container image that the lock pins. */
  image?: string;
  /** What it would use of this machine; absent until it was looked for. */
  pins?: Pins;
  /** The bytes of a lock that fits, and of the signatures beside it: what a publisher vouches for. */
  vouched?: { lock: Buffer; signature: Buffer };
  /** Entry file inside the bundle. */
  entry: string;
  inspection: Inspection;
  instructions?: string;
  warnings: string[];
}
