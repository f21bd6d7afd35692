/**
 * A source of versions for tests: each folder below a folder is one version. The folder itself can be changed by a test, as
 * whoever runs a registry could change what is in it.
 *
 * @module
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../src/errors.ts';
import { digestFiles, sha256 } from '../../src/load/digest.ts';
import { LOCK_FILE, readBundle, SIGNATURE_FILE } from '../../src/load/read-bundle.ts';
import type {
  Attachment,
  Delivery,
  OfferedVersion,
  OpenSource,
  PinnedSource,
  Source,
  SourceName,
} from '../../src/distribution/contract.ts';

export class FolderSource implements Source {
  readonly kind = 'file';
  readonly #root: string;
  /** How often files were read. */
  fetches = 0;
  attachments: Attachment[] = [];
  /** What the source says about the digest, whatever it delivers. */
  claimedDigest: string | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  readonly open: OpenSource = () => this;

  parse(reference: string): SourceName {
    const [source = '', version] = reference.split('@');
    return { source, ...(version === undefined ? {} : { version }) };
  }

  reference({ source, version }: SourceName): string {
    return version === undefined ? source : `${source}@${version}`;
  }

  fetch(reference: string): Promise<Delivery> {
    this.fetches++;
    const { source, version = 'latest' } = this.parse(reference);
    const files = this.#files(version);
    return Promise.resolve({
      pinned: { kind: this.kind, source, version, revision: revisionOf(files) },
      files,
      attachments: this.attachments,
      ...(this.claimedDigest === undefined ? {} : { claimedDigest: this.claimedDigest }),
    });
  }

  async fetchPinned(pinned: PinnedSource): Promise<Delivery> {
    const delivery = await this.fetch(this.reference(pinned));
    if (delivery.pinned.revision === pinned.revision) return { ...delivery, pinned };
    throw new SkillError('manifest_drift', 'The source has other bytes now', { fix: 'Ask whoever runs it.' });
  }

  versions(): Promise<OfferedVersion[]> {
    return Promise.resolve(readdirSync(this.#root).map((version) => ({ version })));
  }

  currentRevision({ version = 'latest' }: PinnedSource): Promise<string | undefined> {
    return Promise.resolve(
      existsSync(join(this.#root, version)) ? revisionOf(this.#files(version)) : undefined,
    );
  }

  #files(version: string): Map<string, Buffer> {
    const { contents, lock, signature } = readBundle(join(this.#root, version));
    const files = new Map(contents);
    if (lock) files.set(LOCK_FILE, lock);
    if (signature) files.set(SIGNATURE_FILE, signature);
    return files;
  }
}

function revisionOf(files: ReadonlyMap<string, Buffer>): string {
  return digestFiles(Object.fromEntries([...files].map(([path, bytes]) => [path, sha256(bytes)])));
}
