/**
 * The two OCI documents of an image: the config (start options and layers) and the manifest, whose digest identifies the
 * image. Layers are stored uncompressed, so that the same content has the same digest regardless of its compression in
 * transit.
 *
 * @module
 */
import { z } from 'zod';
import { sha256 } from '../../load/digest.ts';
import type { ImageConfig } from './contract.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import { imageCorrupt, imageRefused } from './problems.ts';

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

interface ImageManifest {
  schemaVersion: 2;
  mediaType: string;
  config: Descriptor;
  layers: Descriptor[];
}

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is not a sha256 digest');
const words = z.array(z.string().max(65_536)).max(1024).nullish();
/** Unknown keys are kept, so that the image stays unchanged. */
export interface ConfigDocument {
  architecture: string;
  os: string;
  config?: ConfigSection | null | undefined;
  rootfs: { type: 'layers'; diff_ids: string[] };
  [key: string]: unknown;
}

export interface ConfigSection {
  Entrypoint?: string[] | null | undefined;
  Cmd?: string[] | null | undefined;
  Env?: string[] | null | undefined;
  User?: string | null | undefined;
  WorkingDir?: string | null | undefined;
  [key: string]: unknown;
}

const configSchema: z.ZodType<ConfigDocument> = z.looseObject({
  architecture: z.string().max(64),
  os: z.string().max(64),
  config: z
    .looseObject({
      Entrypoint: words,
      Cmd: words,
      Env: words,
      User: z.string().max(256).nullish(),
      WorkingDir: z.string().max(4096).nullish(),
    })
    .nullish(),
  rootfs: z.looseObject({ type: z.literal('layers'), diff_ids: z.array(digest) }),
});
const descriptor = z.looseObject({ mediaType: z.string(), digest, size: z.int().min(0) });
const manifestSchema = z.looseObject({
  schemaVersion: z.literal(2),
  config: descriptor,
  layers: z.array(descriptor),
});

export function parseConfig(bytes: Buffer, limits: ImageLimits = IMAGE_LIMITS): ConfigDocument {
  const json = parseJson(bytes, 'config', limits);
  requireFewLayers(memberOf(memberOf(json, 'rootfs'), 'diff_ids'), limits);
  const document = configSchema.safeParse(json);
  if (!document.success) throw imageCorrupt(`its config is not valid: ${firstIssue(document.error)}`);
  return document.data;
}

export function parseManifest(bytes: Buffer): { config: Descriptor; layers: Descriptor[] } {
  const json = parseJson(bytes, 'manifest', IMAGE_LIMITS);
  requireFewLayers(memberOf(json, 'layers'), IMAGE_LIMITS);
  const document = manifestSchema.safeParse(json);
  if (!document.success) throw imageCorrupt(`its manifest is not valid: ${firstIssue(document.error)}`);
  return document.data;
}

/** Checked before schema validation, which would report an issue for each of perhaps a million layers. */
export function requireFewLayers(list: unknown, { layers }: ImageLimits): void {
  if (Array.isArray(list) && list.length > layers)
    throw imageRefused(`it has ${list.length} layers, more than ${layers}`, { limit: layers });
}

export function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

/** The parts of a config that the wall uses. */
export function imageConfig({ architecture, os, config }: ConfigDocument): ImageConfig {
  return {
    entrypoint: config?.Entrypoint ?? [],
    cmd: config?.Cmd ?? [],
    env: config?.Env ?? [],
    user: config?.User ?? '',
    workdir: config?.WorkingDir ?? '',
    architecture,
    os,
  };
}

export function makeManifest(config: Buffer, layers: { digest: string; size: number }[]): Buffer {
  const manifest: ImageManifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: { mediaType: CONFIG_TYPE, digest: digestOf(config), size: config.length },
    layers: layers.map((layer) => ({ mediaType: LAYER_TYPE, digest: layer.digest, size: layer.size })),
  };
  return Buffer.from(JSON.stringify(manifest));
}

/** `index.json` of a layout that contains only this image. */
export function makeIndex(manifest: Buffer, name: string): Buffer {
  const entry = {
    mediaType: MANIFEST_TYPE,
    digest: digestOf(manifest),
    size: manifest.length,
    annotations: { 'org.opencontainers.image.ref.name': name },
  };
  return Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
}

export const LAYOUT_FILE: Buffer = Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' }));

export function digestOf(bytes: Buffer): string {
  return `sha256:${sha256(bytes)}`;
}

/** The name of a blob in a layout. */
export function hexOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

/** The OCI name of this machine's architecture. */
export function ownArchitecture(arch: string = process.arch): string {
  return arch === 'x64' ? 'amd64' : arch;
}

function parseJson(bytes: Buffer, what: string, limits: ImageLimits): unknown {
  if (bytes.length > limits.jsonBytes)
    throw imageRefused(`its ${what} is larger than ${limits.jsonBytes} bytes`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw imageCorrupt(`its ${what} is not valid JSON`);
  }
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim();
}
