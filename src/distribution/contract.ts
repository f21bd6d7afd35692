/**
 * The interfaces between the parts of distribution: a source delivers the files of a skill, and everything after that
 * (reading, pinning, asking a person, storing) is the same for every source.
 *
 * @module
 */

import type { SourceKind } from '../vocabulary/source-kinds.ts';
import type { TransferWatch } from './transfer-watch.ts';

export type { SourceKind } from '../vocabulary/source-kinds.ts';

/** Exactly one version at a source, as `skills.lock.json` keeps it. */
export interface PinnedSource {
  readonly kind: SourceKind;
  /** The source without its version, such as `oci://registry.example/skills/word_stats`. */
  readonly source: string;
  /** The version or tag that was asked for, if the source has them. */
  readonly version?: string | undefined;
  /** What the source itself calls these bytes: a manifest digest, a commit, the integrity of a tarball. */
  readonly revision: string;
}

/** A document about a delivered skill that travels beside it, such as an SBOM. Nothing in it has been believed. */
export interface Attachment {
  readonly artifactType: string;
  readonly digest: string;
  readonly bytes: Buffer;
}

/** The files of one skill as a source delivered them. Nothing of them has been believed. */
export interface Delivery {
  readonly pinned: PinnedSource;
  /** Bytes by path inside the bundle, including `skill.lock` and `skill.sig`. Paths are safe to join to a folder. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The digest of the bundle that the source claims, if it claims one. */
  readonly claimedDigest?: string | undefined;
  /** Signatures, SBOMs and attestations that refer to this artifact. */
  readonly attachments: readonly Attachment[];
}

/** A reference, split. */
export interface SourceName {
  /** Without the version, as `PinnedSource` has it. */
  readonly source: string;
  /** The version, tag, branch or digest that was asked for. */
  readonly version?: string | undefined;
}

/** A version that a source offers. */
export interface OfferedVersion {
  readonly version: string;
  /** The revision, if the source says it without another request. */
  readonly revision?: string | undefined;
}

/** One kind of source. */
export interface Source {
  readonly kind: SourceKind;
  /** Splits a reference, and throws `usage` if it is not one of this kind. Sends nothing: policies are asked first. */
  parse(reference: string): SourceName;
  /** The reference of this version: the opposite of `parse`. */
  reference(name: SourceName): string;
  /** Delivers what `reference` (the whole text with its prefix) names now. */
  fetch(reference: string, watch?: TransferWatch): Promise<Delivery>;
  /** Delivers exactly what was pinned, or fails. */
  fetchPinned(pinned: PinnedSource, watch?: TransferWatch): Promise<Delivery>;
  /** The versions on offer; undefined if the source has none to list. */
  versions(pinned: PinnedSource): Promise<readonly OfferedVersion[] | undefined>;
  /** What the pinned version or tag names now, which differs from `pinned.revision` if somebody moved it. */
  currentRevision(pinned: PinnedSource): Promise<string | undefined>;
}

/** Finds the source that a reference or a pinned source names, by its prefix. Throws `usage` for an unknown one. */
export type OpenSource = (text: string) => Source;
