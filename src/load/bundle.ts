/**
 * A bundle that was read once, hashed while reading, and staged as verified bytes, so that the checked files are the
 * ones that run.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';
import type { OfferedPackages } from './accepted-packages.ts';
import type { Commands } from './commands.ts';
import type { Inspection } from './inspection.ts';
import type { LockedPackages } from './locked-packages.ts';
import type { Pins } from './pins.ts';
import type { ScriptFile } from './scripts.ts';
import type { Kind } from '../vocabulary/kinds.ts';
import type { Origin } from '../vocabulary/origins.ts';

/** sha256 of every file by its path inside the bundle, `/` as separator, sorted. */
export type FileDigests = Record<string, string>;

export type LockState = 'locked' | 'unlocked';

/** Where an overlay is: in Skillcell's own folder, or in the project, which may be an untrusted clone. */
export type OverlayPlace = 'home' | 'project';

/** An overlay that belongs to a bundle, with the manifest without it and with it. */
export interface AppliedOverlay {
  file: string;
  place: OverlayPlace;
  /** Of its text; it counts only while the file is the same. */
  sha256: string;
  base: Manifest;
  full: Manifest;
  /** Its packages, if they do not count because nobody installed them here. */
  offered?: OfferedPackages;
}

export interface Bundle {
  manifest: Manifest;
  kind: Kind;
  /** Other names that callers use for it or that it claims; rules for any of them apply. */
  aliases?: readonly string[];
  origin: Origin;
  /** The user's folder. Shown to people, never run from. */
  sourceDir: string;
  /** The verified copy that cells see. */
  stagedDir: string;
  files: FileDigests;
  /** sha256 over the sorted file digests. */
  digest: string;
  lock: LockState;
  /** Digest of the container image that the lock pins. */
  image?: string;
  /** The packages that the lock pins. */
  lockedPackages?: LockedPackages;
  /** What an operator wrote beside the folder; present if it is for exactly these files. */
  overlay?: AppliedOverlay;
  /** The image and packages of this machine that it would use; absent until resolved. */
  pins?: Pins;
  /** Bytes of the matching lock and of its signatures: what a publisher vouches for. */
  vouched?: { lock: Buffer; signature: Buffer };
  /** Entry file inside the bundle; empty unless its kind is `function`, or if its image contains the program. */
  entry: string;
  inspection: Inspection;
  /** Files that a command can run; absent for the kind `function`. */
  scripts?: readonly ScriptFile[];
  /** Commands in its scripts and texts; absent for the kind `function`. */
  commands?: Commands;
  instructions?: string;
  warnings: string[];
}
