/**
 * Documents that refer to an artifact. Registries with the referrers API keep the list; for others, the list is an index
 * under the tag `sha256-<hex>`, as the specification says.
 *
 * @module
 */
import { quote } from '../../manifest/quote.ts';
import { ANNOTATIONS, ATTACHMENT_TYPES, MANIFEST_TYPES } from '../../vocabulary/oci-types.ts';
import type { Attachment } from '../contract.ts';
import {
  EMPTY_BLOB,
  jsonBlob,
  makeBlob,
  parseIndex,
  parseManifest,
  type Blob,
  type Descriptor,
  type Index,
  type Manifest,
} from './manifest.ts';
import type { Artifact } from './layout.ts';
import { artifactRefused, registryRefused } from './problems.ts';
import type { FetchedManifest, Repository } from './registry.ts';

const MAX_REFERRERS = 100;
const MAX_ATTACHMENT_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
const KNOWN: ReadonlySet<string> = new Set(Object.values(ATTACHMENT_TYPES));

/** A document that refers to an artifact, whose manifest is read and checked. */
export interface Referrer {
  readonly descriptor: Descriptor;
  readonly fetched: FetchedManifest;
  readonly manifest: Manifest;
}

/** What to attach: one document of one type. */
export interface Document {
  readonly artifactType: string;
  readonly bytes: Buffer;
  readonly title: string;
  /** Of an in-toto statement. */
  readonly predicateType?: string;
}

export function packDocument(document: Document, subject: Descriptor): Artifact {
  const { artifactType, bytes, title, predicateType } = document;
  const layer = makeBlob(artifactType, bytes, title);
  const { mediaType, digest, size } = subject;
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPES.image,
    artifactType,
    config: EMPTY_BLOB.descriptor,
    layers: [layer.descriptor],
    subject: { mediaType, digest, size },
    annotations: predicateType === undefined ? {} : { [ANNOTATIONS.predicateType]: predicateType },
  };
  return { manifest: jsonBlob(MANIFEST_TYPES.image, manifest), blobs: [EMPTY_BLOB, layer] };
}

/** The tag of the list in registries without the API. */
function listTag(digest: string): string {
  return digest.replace(':', '-');
}

async function listReferrers(repository: Repository, subject: string): Promise<Descriptor[]> {
  const what = `the list of documents about ${repository.describe(subject)}`;
  const listed: Descriptor[] = [];
  let hasApi = false;
  for await (const page of repository.pages(`referrers/${subject}`, what, MANIFEST_TYPES.index)) {
    hasApi = true;
    listed.push(...parseIndex(Buffer.from(JSON.stringify(page)), what).manifests);
    if (listed.length > MAX_REFERRERS) throw tooMany(what);
  }
  return hasApi ? uniqueOf(listed) : (await findList(repository, subject)).manifests;
}

async function findList(repository: Repository, subject: string): Promise<Index> {
  const found = await repository.findManifest(listTag(subject));
  const what = repository.describe(listTag(subject));
  const index: Index = found
    ? parseIndex(found.bytes, what)
    : { schemaVersion: 2, mediaType: MANIFEST_TYPES.index, manifests: [] };
  if (index.manifests.length > MAX_REFERRERS) throw tooMany(what);
  return { ...index, manifests: uniqueOf(index.manifests) };
}

function uniqueOf(descriptors: readonly Descriptor[]): Descriptor[] {
  return [...new Map(descriptors.map((one) => [one.digest, one])).values()];
}

function tooMany(what: string): Error {
  return registryRefused(what, `lists more than ${MAX_REFERRERS}`);
}

/** Fetches the manifests of a list. Each must refer to this very artifact, whatever the list says. */
export async function fetchReferrers(repository: Repository, subject: string): Promise<Referrer[]> {
  const listed = await listReferrers(repository, subject);
  return Promise.all(listed.map((descriptor) => fetchReferrer(repository, descriptor, subject)));
}

async function fetchReferrer(
  repository: Repository,
  descriptor: Descriptor,
  subject: string,
): Promise<Referrer> {
  const fetched = await repository.pullManifest(descriptor.digest);
  const what = repository.describe(descriptor.digest);
  const manifest = parseManifest(fetched.bytes, what);
  if (manifest.subject?.digest !== subject)
    throw artifactRefused(
      what,
      `it is listed as a document about ${quote(subject)}, and it is about ${quote(manifest.subject?.digest ?? 'nothing')}`,
    );
  return { descriptor, fetched, manifest };
}

/** The documents of the types that we know. A document of another type is not fetched. */
export async function fetchAttachments(
  repository: Repository,
  subject: string,
  maxBytes: number = MAX_TOTAL_BYTES,
): Promise<Attachment[]> {
  const referrers = await fetchReferrers(repository, subject);
  let total = 0;
  const wanted = referrers.flatMap(({ descriptor, manifest }) => {
    // Registries get the type in the list wrong; the manifest is what the digest covers.
    const artifactType = manifest.artifactType ?? manifest.config.mediaType;
    const [layer] = manifest.layers;
    if (!KNOWN.has(artifactType) || !layer || manifest.layers.length > 1) return [];
    total += layer.size;
    return [{ artifactType, digest: descriptor.digest, layer }];
  });
  if (total > maxBytes)
    throw artifactRefused(repository.describe(subject), `its documents have more than ${maxBytes} bytes`);
  return Promise.all(
    wanted.map(async ({ artifactType, digest, layer }) => {
      const what = `a document about ${repository.describe(subject)}`;
      return { artifactType, digest, bytes: await repository.pullBlob(layer, what, MAX_ATTACHMENT_BYTES) };
    }),
  );
}

/** Pushes documents and keeps the list where the registry does not. Returns how many were new. */
export async function pushReferrers(
  repository: Repository,
  subject: string,
  documents: readonly Artifact[],
): Promise<number> {
  if (documents.length === 0) return 0;
  const known = new Set((await listReferrers(repository, subject)).map(({ digest }) => digest));
  const added = documents.filter(({ manifest }) => !known.has(manifest.descriptor.digest));
  let isListed = true;
  for (const { manifest, blobs } of added) {
    await pushBlobs(repository, blobs);
    isListed = (await repository.pushManifest(manifest)) && isListed;
  }
  if (added.length > 0 && !isListed) await extendList(repository, subject, added);
  return added.length;
}

/** A registry with the API may still not say so when it takes a manifest: then it has them in its list. */
async function extendList(
  repository: Repository,
  subject: string,
  added: readonly Artifact[],
): Promise<void> {
  const listed = new Set((await listReferrers(repository, subject)).map(({ digest }) => digest));
  if (added.every(({ manifest }) => listed.has(manifest.descriptor.digest))) return;
  const { manifests } = await findList(repository, subject);
  const index = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPES.index,
    manifests: uniqueOf([...manifests, ...added.map(describe)]),
  };
  await repository.pushManifest(jsonBlob(MANIFEST_TYPES.index, index), listTag(subject));
}

/** As the specification wants entries of the list. */
function describe({ manifest }: Artifact): Descriptor {
  const { artifactType, annotations } = parseManifest(manifest.bytes, 'our own manifest');
  return {
    ...manifest.descriptor,
    ...(artifactType === undefined ? {} : { artifactType }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

export async function pushBlobs(repository: Repository, blobs: readonly Blob[]): Promise<number> {
  const pushed = await Promise.all(blobs.map((blob) => repository.pushBlob(blob)));
  return pushed.filter(Boolean).length;
}
