/**
 * Publishes a skill in a registry: the artifact, its documents, and on request the component for other runtimes. Publishing the
 * same again changes nothing.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { parseLock } from '../load/lock.ts';
import { NO_VERSION } from '../manifest/names.ts';
import {
  formatSignatures,
  isGoodEd25519,
  parseSignatures,
  signLock,
  withSignature,
  type Signature,
} from '../trust/signature.ts';
import { ATTACHMENT_TYPES } from '../vocabulary/oci-types.ts';
import { attachedDocument, type AttachedFile } from './attest/attached.ts';
import { behaviourOf } from './attest/behaviour.ts';
import { makeSbom } from './attest/sbom.ts';
import { PREDICATES, signStatement } from './attest/statement.ts';
import { packSkill, unpackSkill, type Artifact, type SkillContent } from './oci/layout.ts';
import { parseManifest, type Descriptor } from './oci/manifest.ts';
import { formatReference, TAG, type OciReference } from './oci/reference.ts';
import { packDocument, pushBlobs, pushReferrers, type Document } from './oci/referrers.ts';
import { Repository, type RepositoryOptions } from './oci/registry.ts';
import { packWasm } from './oci/wasm.ts';
import { parseVersion } from './semver.ts';

export interface PublishInput {
  readonly skill: SkillContent;
  readonly requirements: readonly string[];
  readonly reference: OciReference;
  /** Private key in PEM: signs the lock, the SBOM and the report of the study. */
  readonly key?: string | undefined;
  /** The JSON report of `skillcell study`. */
  readonly study?: { text: string; file: string } | undefined;
  /** Attestations about the lock that Sigstore signed. */
  readonly attached?: readonly AttachedFile[] | undefined;
  /** Also publishes the component by itself, for other runtimes. */
  readonly wasm?: boolean | undefined;
  /** Moves a version that exists. */
  readonly force?: boolean | undefined;
}

export interface Published {
  /** With its digest. */
  readonly reference: string;
  readonly digest: string;
  /** Digest of the bundle. */
  readonly bundle: string;
  /** False if the registry had the same artifact under this tag. */
  readonly isNew: boolean;
  /** Number of documents that the registry did not have. */
  readonly documents: number;
  /** Keys that signed the lock. */
  readonly signers: readonly string[];
  /** The reference of the component. */
  readonly wasm?: string;
}

export async function publishSkill(input: PublishInput, options: RepositoryOptions): Promise<Published> {
  const tag = tagFor(input);
  const reference = { ...input.reference, tag };
  const skill = signed(input, tag);
  const documents = documentsOf(input, skill);
  const wasm = input.wasm === true ? packWasm(skill) : undefined;
  const repository = new Repository(reference, options);
  const artifact = await packSkill(skill);
  const wasmTag = `${tag}-wasm`;
  const isForced = input.force === true;
  const [present] = await Promise.all([
    presentArtifact(repository, { tag, digest: skill.digest, artifact, isForced }),
    wasm &&
      refuseMove(repository, { tag: wasmTag, artifact: wasm, isForced: isForced || !parseVersion(tag) }),
  ]);
  const subject = present ?? (await push(repository, artifact, tag));
  if (wasm) await push(repository, wasm, wasmTag);
  const packed = documents.map((document) => packDocument(document, subject));
  const { name, host } = reference;
  return {
    reference: formatReference({ host, name, tag, digest: subject.digest }),
    digest: subject.digest,
    bundle: skill.digest,
    isNew: present === undefined,
    documents: await pushReferrers(repository, subject.digest, packed),
    signers: signaturesOf(skill).flatMap((one) => (one.type === 'ed25519' ? [one.key] : [])),
    ...(wasm ? { wasm: formatReference({ host, name, tag: wasmTag }) } : {}),
  };
}

/**
 * The version of the manifest, unless the reference names a tag. A tag that looks like a version has to be that version, if
 * the skill has one: Agent Skills often have none, and are versioned by their tags.
 */
function tagFor({ skill, reference }: PublishInput): string {
  const { tag = skill.version, digest } = reference;
  if (digest !== undefined)
    throw new SkillError('usage', 'A reference to publish to cannot have a digest', {
      fix: 'Leave out the part from "@": the digest follows from the files.',
    });
  if (!TAG.test(tag))
    throw new SkillError('usage', `Registries do not allow the version "${tag}" as a tag`, {
      fix: 'Name a tag of letters, digits, "_", "." and "-" at the end of the reference, such as :1.0.0',
    });
  if (parseVersion(tag) && skill.version !== NO_VERSION && tag.replace(/^v/, '') !== skill.version)
    throw new SkillError('usage', `The tag "${tag}" is not the version "${skill.version}" of the skill`, {
      fix: `Publish it as "${skill.version}", or change the version in its manifest and lock it again.`,
    });
  return tag;
}

function signed({ skill: given, key }: PublishInput, tag: string): SkillContent {
  const skill = given.version === NO_VERSION && parseVersion(tag) ? { ...given, version: tag } : given;
  if (key === undefined) return withGoodSignatures(skill);
  const signatures = withSignature(signaturesOf(skill), signLock(skill.lock, key));
  return withGoodSignatures({
    ...skill,
    signature: Buffer.from(formatSignatures({ version: 1, signatures })),
  });
}

/** Everyone who adds the skill would refuse it. */
function withGoodSignatures(skill: SkillContent): SkillContent {
  const bad = signaturesOf(skill).find((one) => one.type === 'ed25519' && !isGoodEd25519(one, skill.lock));
  if (bad?.type !== 'ed25519') return skill;
  throw new SkillError(
    'signature_invalid',
    `The signature of "${skill.name}" by ${bad.key} is for another skill.lock than the one beside it`,
    {
      fix: 'Remove its skill.sig and sign it again with `skillcell sign`, or with --key FILE while you publish.',
      detail: { skill: skill.name, key: bad.key },
    },
  );
}

function signaturesOf({ signature }: SkillContent): readonly Signature[] {
  return signature ? parseSignatures(signature).signatures : [];
}

/** The SBOM as other programs read it, the signatures of Sigstore, and what the publisher's key vouches for. */
function documentsOf(
  { key, study, requirements, attached = [] }: PublishInput,
  skill: SkillContent,
): Document[] {
  const { name, version, lock: lockBytes, digest } = skill;
  const lock = parseLock(lockBytes.toString('utf8'));
  const sbom = makeSbom({ name, version, requirements, lock });
  const bundles = signaturesOf(skill).flatMap((one) => (one.type === 'sigstore' ? [one.bundle] : []));
  const documents: Document[] = [
    {
      artifactType: ATTACHMENT_TYPES.cyclonedx,
      bytes: Buffer.from(JSON.stringify(sbom)),
      title: 'sbom.cdx.json',
    },
    ...bundles.map((bundle): Document => ({
      artifactType: ATTACHMENT_TYPES.sigstore,
      bytes: Buffer.from(JSON.stringify(bundle)),
      title: 'skill.lock.sigstore.json',
    })),
    ...attached.map((file) => attachedDocument(file, lockBytes)),
  ];
  if (key === undefined) {
    if (study)
      throw new SkillError('usage', 'The report of a study is published only with a signature', {
        fix: 'Pass your private key with --key FILE.',
      });
    return documents;
  }
  const attest = (predicateType: string, predicate: Record<string, unknown>, title: string): void => {
    const bytes = signStatement(lockBytes, { predicateType, predicate }, key);
    documents.push({ artifactType: ATTACHMENT_TYPES.dsse, bytes, title, predicateType });
  };
  attest(PREDICATES.sbom, sbom, 'sbom.dsse.json');
  if (study)
    attest(
      PREDICATES.study,
      behaviourOf({ name, digest, capabilities: lock.capabilities }, study.text, study.file),
      'study.dsse.json',
    );
  return documents;
}

interface Target {
  tag: string;
  artifact: Artifact;
  isForced: boolean;
}

/** The artifact under this tag if it has the same content: compressors differ between versions, and files do not. */
async function presentArtifact(
  repository: Repository,
  target: Target & { digest: string },
): Promise<Descriptor | undefined> {
  const { tag, artifact, digest, isForced } = target;
  const found = await repository.findManifest(tag);
  if (!found) return undefined;
  const descriptor = { mediaType: found.mediaType, digest: found.digest, size: found.bytes.length };
  if (found.digest === artifact.manifest.descriptor.digest) return descriptor;
  if (await hasSameContent(repository, found.bytes, { artifact, digest, what: repository.describe(tag) }))
    return descriptor;
  if (!isForced && parseVersion(tag)) throw moved(repository.describe(tag), found.digest);
  return undefined;
}

async function hasSameContent(
  repository: Repository,
  bytes: Buffer,
  { artifact, digest, what }: { artifact: Artifact; digest: string; what: string },
): Promise<boolean> {
  try {
    const [theirs, ours] = [parseManifest(bytes, what), parseManifest(artifact.manifest.bytes, what)];
    const [, lock] = ours.layers;
    const isSame = theirs.config.digest === ours.config.digest && theirs.layers[1]?.digest === lock?.digest;
    if (!isSame) return false;
    return (
      (await unpackSkill(theirs, what, (layer, of, most) => repository.pullBlob(layer, of, most))).digest ===
      digest
    );
  } catch (error) {
    if (error instanceof SkillError && ['manifest_invalid', 'manifest_drift'].includes(error.code))
      return false;
    throw error;
  }
}

async function refuseMove(repository: Repository, { tag, artifact, isForced }: Target): Promise<void> {
  const found = await repository.findManifest(tag);
  if (found && found.digest !== artifact.manifest.descriptor.digest && !isForced)
    throw moved(repository.describe(tag), found.digest);
}

function moved(what: string, digest: string): SkillError {
  return new SkillError('usage', `${what} exists with other content (${digest})`, {
    fix: 'Publish a new version: change "version" in the manifest and lock the skill again. --force replaces the old one, and whoever pinned it will refuse the new one.',
    detail: { digest },
  });
}

async function push(repository: Repository, { manifest, blobs }: Artifact, tag: string): Promise<Descriptor> {
  await pushBlobs(repository, blobs);
  await repository.pushManifest(manifest, tag);
  return manifest.descriptor;
}
