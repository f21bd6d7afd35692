/**
 * An image as a container wall sees it: its digest, its configuration, and the location of its files.
 *
 * @module
 */
import type { Bundle } from '../../load/bundle.ts';
import type { ContainerRule } from '../../manifest/manifest.ts';

/** How an image asks to be started. The wall decides. */
export interface ImageConfig {
  entrypoint: string[];
  cmd: string[];
  /** `NAME=value` lines of the image. */
  env: string[];
  /** The user as written in the image; empty if it sets none, which would mean root. */
  user: string;
  workdir: string;
  /** OCI name: `amd64`, `arm64`. */
  architecture: string;
  os: string;
}

export interface ResolvedImage {
  /** Digest of the OCI manifest, `sha256:…`, which `skill.lock` pins. */
  digest: string;
  /** Digest of the OCI config, `sha256:…`: the image id in podman and docker. */
  id: string;
  /** Readable name, such as `localhost/skillcell-python:3.11`. */
  reference: string;
  config: ImageConfig;
  /** Folder in our home with an OCI image layout (`oci-layout`, `index.json`, `blobs/sha256/…`) of this image. */
  layout: string;
  /** Read-only unpacked root file system, created on first use: no devices, no setuid bits, nothing outside of it. */
  rootfs(): Promise<string>;
  /** Tar file for `podman load` and `docker load` (OCI layout plus docker's list), created on first use. */
  archive(): Promise<string>;
}

export interface Refusal {
  reason: string;
  fix: string;
}

/** The parts of a bundle needed to find its image, and to say how to get it. */
export type ImageOwner = Pick<Bundle, 'digest' | 'image' | 'pins' | 'manifest' | 'origin' | 'sourceDir'>;

export interface ImageStore {
  /** Resolves a declaration to an image, pinned by the bundle's lock if it has one. Fetches nothing. */
  resolve(rule: ContainerRule, bundle: ImageOwner): Promise<ResolvedImage>;
  /** Why the image cannot be used here, in case another mode does not need it. Throws on drift. */
  refusal(rule: ContainerRule, bundle: ImageOwner): Promise<Refusal | undefined>;
}
