/**
 * Copies an artifact with all documents about it to another repository, byte for byte, so that its digest and every signature
 * stay valid.
 *
 * @module
 */
import { MANIFEST_TYPES } from '../vocabulary/oci-types.ts';
import { parseVersion } from './semver.ts';
import { SkillError } from '../errors.ts';
import { unpackSkill, type Artifact } from './oci/layout.ts';
import { parseManifest, type Blob, type Descriptor } from './oci/manifest.ts';
import { formatReference, type OciReference } from './oci/reference.ts';
import { registryRefused } from './oci/problems.ts';
import { fetchReferrers, pushReferrers, type Referrer } from './oci/referrers.ts';
import { Repository, type FetchedManifest, type RepositoryOptions } from './oci/registry.ts';

export interface Mirrored {
  readonly reference: string;
  readonly digest: string;
  readonly isNew: boolean;
  readonly documents: number;
}

const MAX_DOCUMENTS = 200;
const MAX_BLOB_BYTES = 128 * 1024 * 1024;

export interface MirrorOptions extends RepositoryOptions {
  /** Moves a version that exists. */
  readonly force?: boolean | undefined;
}

export async function mirrorSkill(
  from: OciReference,
  to: OciReference,
  options: MirrorOptions,
): Promise<Mirrored> {
  const tag = to.tag ?? from.tag;
  if (to.digest !== undefined || (from.tag === undefined && from.digest === undefined))
    throw new SkillError('usage', 'A mirror needs the version to copy, and a place without a digest', {
      fix: 'Write it as: skillcell mirror oci://HOST/NAME:VERSION oci://OTHER/NAME',
    });
  const [source, target] = [new Repository(from, options), new Repository(to, options)];
  const fetched = await source.pullManifest(from.digest ?? from.tag ?? '');
  const what = source.describe(fetched.digest);
  const manifest = parseManifest(fetched.bytes, what);
  // Nothing that this machine would refuse is spread further.
  const pulled = new Map<string, Blob>();
  await unpackSkill(manifest, what, async (layer, of, maxBytes) => {
    const bytes = await source.pullBlob(layer, of, maxBytes);
    pulled.set(layer.digest, { descriptor: layer, bytes });
    return bytes;
  });
  const documents = await collectDocuments(source, fetched.digest);
  const present = await target.findManifest(tag ?? fetched.digest);
  const isNew = present?.digest !== fetched.digest;
  if (isNew && present && options.force !== true && tag !== undefined && parseVersion(tag))
    throw new SkillError('usage', `${target.describe(tag)} exists with other content (${present.digest})`, {
      fix: 'Mirror it under another name, or replace what is there with --force.',
    });
  if (isNew) {
    for (const part of [manifest.config, ...manifest.layers])
      await target.pushBlob(pulled.get(part.digest) ?? (await pullBlob(source, part)));
    await target.pushManifest(blobOf(fetched), tag ?? fetched.digest);
  }
  let copied = 0;
  for (const { subject, artifacts } of documents) copied += await pushReferrers(target, subject, artifacts);
  return {
    reference: formatReference({ host: to.host, name: to.name, tag, digest: fetched.digest }),
    digest: fetched.digest,
    isNew,
    documents: copied,
  };
}

interface Documents {
  readonly subject: string;
  readonly artifacts: readonly Artifact[];
}

/** Also documents about documents, such as the signature of an SBOM. */
async function collectDocuments(source: Repository, digest: string): Promise<Documents[]> {
  const found: Documents[] = [];
  const subjects = [digest];
  for (const subject of subjects) {
    const referrers = await fetchReferrers(source, subject);
    if (referrers.length === 0) continue;
    subjects.push(...referrers.map(({ fetched }) => fetched.digest));
    if (subjects.length > MAX_DOCUMENTS)
      throw registryRefused(source.describe(digest), `has more than ${MAX_DOCUMENTS} documents about it`);
    const artifacts = await Promise.all(referrers.map((referrer) => artifactOf(source, referrer)));
    found.push({ subject, artifacts });
  }
  return found;
}

async function artifactOf(source: Repository, { fetched, manifest }: Referrer): Promise<Artifact> {
  const parts = [manifest.config, ...manifest.layers];
  return {
    manifest: blobOf(fetched),
    blobs: await Promise.all(parts.map((part) => pullBlob(source, part))),
  };
}

function blobOf({ digest, bytes }: FetchedManifest): Blob {
  return { descriptor: { mediaType: MANIFEST_TYPES.image, digest, size: bytes.length }, bytes };
}

async function pullBlob(source: Repository, descriptor: Descriptor): Promise<Blob> {
  const bytes = await source.pullBlob(descriptor, `a part of ${source.name}`, MAX_BLOB_BYTES);
  return { descriptor, bytes };
}
