/**
 * One lie of a registry, and the ways to tell it that several lies share.
 *
 * @module
 */
import type { ErrorCode } from '../../../src/vocabulary/error-codes.ts';
import type { Json, Scene } from './registry.ts';

export interface Lie {
  readonly name: string;
  readonly code: ErrorCode;
  /** Part of the message. */
  readonly says: string;
  readonly tell: (scene: Scene) => void;
}

export const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const INDEX = 'application/vnd.oci.image.index.v1+json';
export const LIST: string = JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [] });
export const blobPath = (layer: Json): string => `blobs/${String(layer['digest'])}`;
