/**
 * Manifests and indexes as data. What a registry sends is parsed strictly; what we send is always the same bytes for the same
 * content.
 *
 * @module
 */
import { z } from 'zod';
import { sha256 } from '../../load/digest.ts';
import { quote, shortLine } from '../../manifest/quote.ts';
import { EMPTY_TYPE, MANIFEST_TYPES } from '../../vocabulary/oci-types.ts';
import { artifactRefused } from './problems.ts';
import { DIGEST } from './reference.ts';

export const MAX_MANIFEST_BYTES: number = 4 * 1024 * 1024;
const MAX_LAYERS = 128;
export const MAX_ENTRIES = 1000;
const MAX_ANNOTATIONS = 200;

/** People read some of them, and programs decide by others: no control or invisible characters. */
const VISIBLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;
/** Descriptions may have several lines. */
const READABLE = /^(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[\n\t])*$/u;
const MULTI_LINE_KEY = 'org.opencontainers.image.description';

const mediaType = z
  .string()
  .max(255)
  .regex(/^[\w.+-]+\/[\w.+-]+$/, 'is not a media type');
const annotations = z
  .record(z.string().max(1024).regex(VISIBLE, 'has invisible characters'), z.string().max(65_536))
  .refine((all) => Object.keys(all).length <= MAX_ANNOTATIONS, 'has too many entries')
  .refine(
    (all) =>
      Object.entries(all).every(([key, text]) => (key === MULTI_LINE_KEY ? READABLE : VISIBLE).test(text)),
    'has control or invisible characters',
  );
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  artifactType?: string;
  annotations?: Record<string, string>;
}

export const descriptor: z.ZodType<Descriptor> = z.object({
  mediaType,
  digest: z.string().regex(DIGEST, 'is not a sha256 digest'),
  size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  artifactType: mediaType.exactOptional(),
  annotations: annotations.exactOptional(),
});

export interface Manifest {
  schemaVersion: 2;
  mediaType: typeof MANIFEST_TYPES.image;
  artifactType?: string;
  config: Descriptor;
  layers: Descriptor[];
  subject?: Descriptor;
  annotations?: Record<string, string>;
}

const manifest: z.ZodType<Manifest> = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.literal(MANIFEST_TYPES.image),
  artifactType: mediaType.exactOptional(),
  config: descriptor,
  layers: z.array(descriptor).max(MAX_LAYERS),
  subject: descriptor.exactOptional(),
  annotations: annotations.exactOptional(),
});

export interface Index {
  schemaVersion: 2;
  mediaType: typeof MANIFEST_TYPES.index;
  manifests: Descriptor[];
}

const index: z.ZodType<Index> = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.literal(MANIFEST_TYPES.index),
  manifests: z.array(descriptor).max(MAX_ENTRIES),
});

/** Bytes with their digest and type, as they are pushed. */
export interface Blob {
  readonly descriptor: Descriptor;
  readonly bytes: Buffer;
}

export function makeBlob(mediaType: string, bytes: Buffer, title?: string): Blob {
  const marked = title === undefined ? {} : { annotations: { 'org.opencontainers.image.title': title } };
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length, ...marked }, bytes };
}

export function jsonBlob(mediaType: string, value: unknown): Blob {
  return makeBlob(mediaType, Buffer.from(JSON.stringify(value)));
}

export const EMPTY_BLOB: Blob = jsonBlob(EMPTY_TYPE, {});

export function digestOf(bytes: Buffer): string {
  return `sha256:${sha256(bytes)}`;
}

/** A manifest of one of our kinds; says which other kind it is, if it is a known one. */
export function parseManifest(bytes: Buffer, what: string): Manifest {
  const value = parseJsonObject(bytes, what);
  const { mediaType, schemaVersion, manifests } = value as Record<string, unknown>;
  if (schemaVersion === 1)
    throw artifactRefused(what, 'it is a manifest of the old format 1, which proves nothing');
  if (mediaType === MANIFEST_TYPES.index || manifests !== undefined)
    throw artifactRefused(what, 'it is a list of artifacts, and not one artifact');
  return check(manifest, value, what);
}

export function parseIndex(bytes: Buffer, what: string): Index {
  return check(index, parseJsonObject(bytes, what), what);
}

export function parseJsonObject(bytes: Buffer, what: string): object {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    throw artifactRefused(what, 'it is not valid JSON', cause);
  }
  throw artifactRefused(what, 'it is not a JSON object');
}

export function check<Value>(schema: z.ZodType<Value>, value: unknown, what: string): Value {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = quote(issue?.path.map(String).join('.') ?? '');
  throw artifactRefused(what, `its field ${place} is not valid: ${shortLine(issue?.message ?? '')}`);
}
