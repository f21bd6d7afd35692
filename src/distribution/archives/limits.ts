/**
 * How much an archive may contain. Everything is counted while reading, because a few kilobytes can decompress to terabytes.
 *
 * @module
 */
import { BUNDLE_LIMITS } from '../../load/read-bundle.ts';

export interface ArchiveLimits {
  /** Files that are delivered. */
  files: number;
  /** Bytes of the delivered files. */
  bytes: number;
  /** Entries of any kind, including those that are left out. */
  entries: number;
  /** Bytes of the archive itself, as it arrives. */
  packedBytes: number;
  /** Bytes of the archive after decompression, including headers and what is left out. */
  unpackedBytes: number;
}

const MiB = 1024 ** 2;

/** An archive of one skill. Headers and padding take at most as much as the files again. */
export const SKILL_ARCHIVE: ArchiveLimits = {
  // With the lock and its signatures.
  files: BUNDLE_LIMITS.files + 2,
  bytes: BUNDLE_LIMITS.totalBytes,
  entries: BUNDLE_LIMITS.entries,
  packedBytes: BUNDLE_LIMITS.totalBytes + 32 * MiB,
  unpackedBytes: BUNDLE_LIMITS.totalBytes + 32 * MiB,
};

/** An archive of a whole repository, in which the skill is a folder. */
export const REPOSITORY_ARCHIVE: ArchiveLimits = {
  ...SKILL_ARCHIVE,
  entries: 200_000,
  packedBytes: 256 * MiB,
  unpackedBytes: 1024 * MiB,
};
