/**
 * Images as single tar files. Writes archives that both podman and docker load; reads those of `podman save` and
 * `docker save`.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { posix } from 'node:path';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import type { Blob, Blobs } from './blobs.ts';
import { readContent, tooLarge } from './layers.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import {
  hexOf,
  LAYOUT_FILE,
  makeIndex,
  memberOf,
  parseConfig,
  parseManifest,
  requireFewLayers,
} from './oci.ts';
import { imageCorrupt, imageRefused } from './problems.ts';
import { readTar } from './tar-reader.ts';
import { TAR_END, tarHead, tarPadding } from './tar-writer.ts';

/** The name of an image inside an engine. It is derived from the content, so it cannot refer to another image. */
export function engineName(digest: string): string {
  return `localhost/skillcell-image:${hexOf(digest)}`;
}

/** Writes the tar file of an image. The same image always gives the same bytes. */
export async function* writeArchive(blobs: Blobs, digest: string): AsyncGenerator<Buffer> {
  const manifest = await blobs.read(digest);
  const { config, layers } = parseManifest(manifest);
  const path = (blob: string): string => `blobs/sha256/${hexOf(blob)}`;
  const list = {
    Config: path(config.digest),
    RepoTags: [engineName(digest)],
    Layers: layers.map((layer) => path(layer.digest)),
  };
  yield* folderEntry('blobs/');
  yield* folderEntry('blobs/sha256/');
  const parts = new Map([config, ...layers].map((part) => [part.digest, part.size]));
  for (const [part, size] of [...parts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield tarHead(fileHeader(path(part), size));
    yield* readContent({ file: blobs.path(part), offset: 0, size });
    yield tarPadding(size);
  }
  yield* fileEntry(path(digest), manifest);
  yield* fileEntry('index.json', makeIndex(manifest, engineName(digest)));
  yield* fileEntry('manifest.json', Buffer.from(JSON.stringify([list])));
  yield* fileEntry('oci-layout', LAYOUT_FILE);
  yield TAR_END;
}

type Header = Parameters<typeof tarHead>[0];

function fileHeader(name: string, size: number): Header {
  return { type: '0', name, linkName: '', mode: 0o644, uid: 0, gid: 0, size };
}

function* fileEntry(name: string, bytes: Buffer): Generator<Buffer> {
  yield tarHead(fileHeader(name, bytes.length));
  yield bytes;
  yield tarPadding(bytes.length);
}

function* folderEntry(name: string): Generator<Buffer> {
  yield tarHead({ ...fileHeader(name, 0), type: '5', mode: 0o755 });
}

const imageSchema = z.looseObject({ Config: z.string().max(4096), Layers: z.array(z.string().max(4096)) });

export interface ReadImage {
  /** The unchanged bytes of its config, whose digest is the image id in engines. */
  config: Buffer;
  layers: Blob[];
}

/** Reads an engine's archive into blobs. Every layer must match the digest in the config. */
export async function readArchive(
  file: string,
  blobs: Blobs,
  limits: ImageLimits = IMAGE_LIMITS,
): Promise<ReadImage> {
  const parts = await indexArchive(file, limits);
  const image = readList(await smallPart(file, parts, 'manifest.json'), limits);
  const config = await smallPart(file, parts, image.Config);
  const expected = parseConfig(config, limits).rootfs.diff_ids;
  if (expected.length !== image.Layers.length)
    throw imageCorrupt('the layers in its config differ from those in the archive');
  const layers: Blob[] = [];
  let left = limits.bytes;
  for (const [index, name] of image.Layers.entries()) {
    const part = partAt(parts, name);
    const layer = await blobs.write(capBytes(await plainLayer(file, part), left, limits), expected[index]);
    left -= layer.size;
    layers.push(layer);
  }
  return { config, layers };
}

/** The first image of the list; others are ignored. */
function readList(bytes: Buffer, limits: ImageLimits): z.infer<typeof imageSchema> {
  const first = firstOf(bytes);
  requireFewLayers(memberOf(first, 'Layers'), limits);
  const image = imageSchema.safeParse(first);
  if (image.success) return image.data;
  throw imageCorrupt('the archive has no valid list of images');
}

function firstOf(bytes: Buffer): unknown {
  try {
    const list: unknown = JSON.parse(bytes.toString('utf8'));
    return Array.isArray(list) ? (list as unknown[])[0] : undefined;
  } catch {
    return undefined;
  }
}

interface Part {
  offset: number;
  size: number;
  /** Docker stores a repeated layer as a link. */
  link?: string;
}

async function indexArchive(file: string, limits: ImageLimits): Promise<Map<string, Part>> {
  const parts = new Map<string, Part>();
  for await (const { name, type, offset, size, linkName } of readTar(file, limits)) {
    const path = posix.normalize(name);
    const link = type === '2' ? posix.join(posix.dirname(path), linkName) : posix.normalize(linkName);
    parts.set(path, { offset, size, ...(type === '1' || type === '2' ? { link } : {}) });
    if (parts.size > limits.entries) throw imageRefused('the archive has too many parts');
  }
  return parts;
}

function partAt(parts: ReadonlyMap<string, Part>, name: string): Part {
  const part = parts.get(posix.normalize(name));
  const target = part?.link === undefined ? part : parts.get(part.link);
  if (target && target.link === undefined) return target;
  throw imageCorrupt(`the archive has no part ${JSON.stringify(name)}`);
}

async function smallPart(file: string, parts: ReadonlyMap<string, Part>, name: string): Promise<Buffer> {
  const { offset, size } = partAt(parts, name);
  if (size > IMAGE_LIMITS.jsonBytes) throw imageRefused(`its part ${JSON.stringify(name)} is too large`);
  const chunks: Buffer[] = [];
  for await (const chunk of readContent({ file, offset, size })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The layer as a plain tar file, regardless of its compression. */
async function plainLayer(file: string, { offset, size }: Part): Promise<AsyncIterable<Buffer>> {
  if (size === 0) throw imageCorrupt('a layer is empty');
  const handle = await open(file, 'r');
  const magic = Buffer.alloc(4);
  await handle.read(magic, 0, 4, offset);
  await handle.close();
  const stream = createReadStream(file, { start: offset, end: offset + size - 1 });
  if (magic.readUInt16BE(0) === 0x1f8b) return decompress(stream, createGunzip());
  if (magic.readUInt32BE(0) === 0x28b52ffd) return decompress(stream, createZstdDecompress());
  return stream as AsyncIterable<Buffer>;
}

async function* decompress(
  source: NodeJS.ReadableStream,
  unpacker: NodeJS.ReadWriteStream & AsyncIterable<string | Buffer>,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source.pipe(unpacker)) yield chunk as Buffer;
  } catch (cause) {
    throw imageCorrupt(`a layer cannot be decompressed (${(cause as Error).message})`);
  }
}

/** Stops reading at the limit, because a few kilobytes can decompress to terabytes. */
async function* capBytes(
  chunks: AsyncIterable<Buffer>,
  left: number,
  limits: ImageLimits,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > left) throw tooLarge(limits);
    yield chunk;
  }
}
