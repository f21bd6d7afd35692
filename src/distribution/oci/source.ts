/**
 * Skills from registries.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import type { Delivery, OfferedVersion, PinnedSource, Source, SourceName } from '../contract.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import type { HttpClient } from '../http/client.ts';
import { ANNOTATIONS } from '../../vocabulary/oci-types.ts';
import { newestRelease } from '../semver.ts';
import type { FindCredentials } from './docker-config.ts';
import { unpackSkill } from './layout.ts';
import { parseManifest } from './manifest.ts';
import { OCI_PREFIX, formatReference, parseReference, type OciReference } from './reference.ts';
import { fetchAttachments } from './referrers.ts';
import { Repository } from './registry.ts';

export interface OciSourceOptions {
  readonly http: HttpClient;
  readonly credentials?: FindCredentials;
}

/** Tags that are lists of documents, or a skill in another layout. */
const NOT_VERSIONS = /^sha256-[0-9a-f]{64}|-wasm$/;

export class OciSource implements Source {
  readonly kind = 'oci';
  readonly #options: OciSourceOptions;

  constructor(options: OciSourceOptions) {
    this.#options = options;
  }

  parse(reference: string): SourceName {
    const { host, name, tag, digest } = parseReference(reference);
    const version = [tag, digest].filter((part) => part !== undefined).join('@');
    return { source: formatReference({ host, name }), ...(version === '' ? {} : { version }) };
  }

  reference({ source, version = '' }: SourceName): string {
    if (version === '') return source;
    return `${source}${version.startsWith('sha256:') ? '@' : ':'}${version}`;
  }

  async fetch(text: string, watch?: TransferWatch): Promise<Delivery> {
    const reference = parseReference(text);
    const repository = this.#repository(reference, watch);
    const version =
      reference.tag ?? (reference.digest === undefined ? await newestVersion(repository) : undefined);
    const source = formatReference({ host: reference.host, name: reference.name });
    const wanted = reference.digest ?? version ?? '';
    return deliver(repository, wanted, (revision) => ({
      kind: 'oci',
      source,
      ...(version === undefined ? {} : { version }),
      revision,
    }));
  }

  fetchPinned(pinned: PinnedSource, watch?: TransferWatch): Promise<Delivery> {
    return deliver(this.#of(pinned, watch), pinned.revision, () => pinned);
  }

  async versions(pinned: PinnedSource): Promise<readonly OfferedVersion[]> {
    const tags = await this.#of(pinned).tags();
    return tags.filter((tag) => !NOT_VERSIONS.test(tag)).map((version) => ({ version }));
  }

  async currentRevision(pinned: PinnedSource): Promise<string | undefined> {
    if (pinned.version === undefined) return pinned.revision;
    return (await this.#of(pinned).findManifest(pinned.version))?.digest;
  }

  #of({ source }: PinnedSource, watch?: TransferWatch): Repository {
    return this.#repository(parseReference(source), watch);
  }

  #repository(reference: OciReference, watch: TransferWatch | undefined): Repository {
    return new Repository(reference, { ...this.#options, watch });
  }
}

async function deliver(
  repository: Repository,
  reference: string,
  pin: (revision: string) => PinnedSource,
): Promise<Delivery> {
  const { digest, bytes } = await repository.pullManifest(reference);
  const what = repository.describe(reference);
  const manifest = parseManifest(bytes, what);
  const [{ files }, attachments] = await Promise.all([
    unpackSkill(manifest, what, (layer, of, maxBytes) => repository.pullBlob(layer, of, maxBytes)),
    fetchAttachments(repository, digest),
  ]);
  const claimedDigest = manifest.annotations?.[ANNOTATIONS.bundleDigest];
  return {
    pinned: pin(digest),
    files,
    ...(claimedDigest === undefined ? {} : { claimedDigest }),
    attachments,
  };
}

/** The highest release, or else the tag `latest`. */
async function newestVersion(repository: Repository): Promise<string> {
  const tags = (await repository.tags()).filter((tag) => !NOT_VERSIONS.test(tag));
  const newest = newestRelease(tags) ?? tags.find((tag) => tag === 'latest');
  if (newest !== undefined) return newest;
  throw new SkillError('skill_unavailable', `The registry has no version of ${quote(repository.name)}`, {
    fix: `Check the name, or name a tag: ${OCI_PREFIX}${repository.origin.host}/${repository.name}:TAG`,
  });
}
