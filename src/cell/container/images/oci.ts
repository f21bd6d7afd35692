/**
 * The two documents of an image, as OCI has them: the config (how it wants to be started, which layers) and the manifest,
 * whose digest is the name of the whole. Layers are kept uncompressed, so that the same content has the same digest however it
 * was packed on its way.
 *
 * @module
 */
import { z } from 'zod';
import { sha256 } from '../../../load/digest.ts';
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

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is no sha256 digest');
const words = z.array(z.string().max(65_536)).max(1024).nullish();
/** Other keys are carried along: an image is not ours to change. */
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
  const given = parseJson(bytes, 'config', limits);
  requireFewLayers(memberOf(memberOf(given, 'rootfs'), 'diff_ids'), limits);
  const document = configSchema.safeParse(given);
  if (!document.success) throw imageCorrupt(`its config is none: ${firstIssue(document.error)}`);
  return document.data;
}

export function parseManifest(bytes: Buffer): { config: Descriptor; layers: Descriptor[] } {
  const given = parseJson(bytes, 'manifest', IMAGE_LIMITS);
  requireFewLayers(memberOf(given, 'layers'), IMAGE_LIMITS);
  const document = manifestSchema.safeParse(given);
  if (!document.success) throw imageCorrupt(`its manifest is none: ${firstIssue(document.error)}`);
  return document.data;
}

/** Before a schema looks at them: it makes an issue of every wrong one, and there may be a million. */
export function requireFewLayers(list: unknown, { layers }: ImageLimits): void {
  if (Array.isArray(list) && list.length > layers)
    throw imageRefused(`it has ${list.length} layers, more than ${layers}`, { limit: layers });
}

export function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

/** What the wall is told of a config. */
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

/** `index.json` of a layout that holds this image alone. */
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

/** Architecture of this machine, in the words of OCI. */
export function ownArchitecture(arch: string = process.arch): string {
  return arch === 'x64' ? 'amd64' : arch;
}

function parseJson(bytes: Buffer, what: string, limits: ImageLimits): unknown {
  if (bytes.length > limits.jsonBytes)
    throw imageRefused(`its ${what} is larger than ${limits.jsonBytes} bytes`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw imageCorrupt(`its ${what} is no JSON`);
  }
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim();
}
