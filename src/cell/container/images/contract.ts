/**
 * What a container wall is told of an image: which one it is, down to the digest, and where its bytes are.
 *
 * @module
 */
import type { Bundle } from '../../../load/bundle.ts';
import type { ContainerRule } from '../../../manifest/manifest.ts';

/** What an image says about how it wants to be started. A wish: the wall decides. */
export interface ImageConfig {
  entrypoint: string[];
  cmd: string[];
  /** `NAME=value` as the image has them. */
  env: string[];
  /** As the image says it; empty when it says nothing, which would be root. */
  user: string;
  workdir: string;
  /** As in OCI: `amd64`, `arm64`. */
  architecture: string;
  os: string;
}

export interface ResolvedImage {
  /** Of the OCI manifest: `sha256:…`. What `skill.lock` pins. */
  digest: string;
  /** Of the OCI config: `sha256:…`. What podman and docker call the id of the image once it is loaded. */
  id: string;
  /** What people call it: `localhost/skillcell-python:3.11`. */
  reference: string;
  config: ImageConfig;
  /** Folder with an OCI image layout (`oci-layout`, `index.json`, `blobs/sha256/…`) in our home that holds this image. */
  layout: string;
  /** Read-only unpacked root file system, made at the first use; no devices, no setuid bits, nothing outside of it. */
  rootfs(): Promise<string>;
  /** A tar file that both `podman load` and `docker load` take (OCI layout plus the docker list), made at the first use. */
  archive(): Promise<string>;
}

export interface Refusal {
  reason: string;
  fix: string;
}

/** What has to be known of a bundle to find its image, and to say how to get it. */
export type ImageOwner = Pick<Bundle, 'digest' | 'image' | 'pins' | 'manifest' | 'origin' | 'sourceDir'>;

export interface ImageStore {
  /** The image of a declaration, pinned by the lock of the bundle where it has one. Fetches nothing. */
  resolve(rule: ContainerRule, bundle: ImageOwner): Promise<ResolvedImage>;
  /** Why it cannot be used here, when another mode could do without it; drift is thrown. */
  refusal(rule: ContainerRule, bundle: ImageOwner): Promise<Refusal | undefined>;
}
