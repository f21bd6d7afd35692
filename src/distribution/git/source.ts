/**
 * Skills in git repositories that are served over https.
 *
 * @module
 */
import { quote } from '../../manifest/quote.ts';
import type { Delivery, OfferedVersion, PinnedSource, Source, SourceName } from '../contract.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import type { HttpClient } from '../http/client.ts';
import { parseGit, plainName } from '../references.ts';
import { assertCommit } from '../sources/problems.ts';
import { JailedGit } from './jailed-git.ts';
import { readTree } from './tree.ts';
import { UploadPack } from './upload-pack.ts';

const TAGS = 'refs/tags/';

export class GitSource implements Source {
  readonly kind = 'git';
  readonly #client: HttpClient;

  constructor({ client }: { client: HttpClient }) {
    this.#client = client;
  }

  parse(reference: string): SourceName {
    return plainName(parseGit(reference));
  }

  reference({ source, version }: SourceName): string {
    return version === undefined ? source : `${source}#${version}`;
  }

  async fetch(reference: string, watch?: TransferWatch): Promise<Delivery> {
    const { source, version, url } = parseGit(reference);
    const revision = await new UploadPack(this.#client, url, watch).resolve(version);
    return this.fetchPinned({ kind: this.kind, source, version, revision }, watch);
  }

  async fetchPinned(pinned: PinnedSource, watch?: TransferWatch): Promise<Delivery> {
    assertCommit(pinned);
    const { url, path, version: commit = '' } = parseGit(`${pinned.source}#${pinned.revision}`);
    const what = `The repository ${quote(pinned.source)}`;
    const pack = await new UploadPack(this.#client, url, watch).pack(commit);
    await using git = await JailedGit.open(pack, {
      what: quote(pinned.source),
      format: commit.length === 40 ? 'sha1' : 'sha256',
      signal: watch?.signal,
    });
    return { pinned, files: await readTree(git, { what, commit, path }), attachments: [] };
  }

  async versions({ source }: PinnedSource): Promise<readonly OfferedVersion[]> {
    const refs = await new UploadPack(this.#client, parseGit(source).url).refs([TAGS]);
    return refs.map(({ name, commit }) => ({ version: name.slice(TAGS.length), revision: commit }));
  }

  async currentRevision(pinned: PinnedSource): Promise<string> {
    const { url, version } = parseGit(this.reference(pinned));
    return new UploadPack(this.#client, url).resolve(version);
  }
}
