/**
 * Skills that a web site lists in its well-known index.
 *
 * @module
 */
import { digestFiles, sha256 } from '../../load/digest.ts';
import { BUNDLE_LIMITS } from '../../load/read-bundle.ts';
import { quote } from '../../manifest/quote.ts';
import { mapConcurrently } from '../../tools/map-concurrently.ts';
import { FileSet } from '../archives/file-set.ts';
import { SKILL_ARCHIVE } from '../archives/limits.ts';
import { readArchive } from '../archives/read-archive.ts';
import type { Delivery, PinnedSource } from '../contract.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import type { HttpAnswer, HttpClient } from '../http/client.ts';
import { parseIndex, type IndexName } from '../references.ts';
import { badAnswer } from './problems.ts';
import {
  findEntry,
  hasArtifact,
  MAX_INDEX_BYTES,
  type ArtifactEntry,
  type FilesEntry,
  type IndexEntry,
} from './skill-index.ts';
import { UnversionedSource, type FoundFiles } from './unversioned.ts';

const PARALLEL = 8;

interface Listed {
  entry: IndexEntry;
  answer: HttpAnswer;
}

export class HttpsSource extends UnversionedSource {
  readonly kind = 'https';
  readonly #client: HttpClient;

  constructor({ client }: { client: HttpClient }) {
    super();
    this.#client = client;
  }

  protected sourceOf(reference: string): string {
    return parseIndex(reference).source;
  }

  /** The bytes of an index, to search in. */
  async index(address: string, watch?: TransferWatch): Promise<Buffer> {
    return (await this.#index(parseIndex(address), watch)).body;
  }

  async fetch(reference: string, watch?: TransferWatch): Promise<Delivery> {
    const name = parseIndex(reference);
    const listed = await this.#find(name, watch);
    const { files, revision } = await this.#download(listed, watch);
    assertOwnName(files, listed.entry.name, whatOf(name));
    // With the name, even if the index had only one.
    const { source } = parseIndex(`${name.url}#${listed.entry.name}`);
    return { pinned: { kind: this.kind, source, revision }, files, attachments: [] };
  }

  async currentRevision({ source }: PinnedSource): Promise<string> {
    const listed = await this.#find(parseIndex(source));
    return statedRevision(listed.entry) ?? (await this.#download(listed)).revision;
  }

  async #find(name: IndexName, watch?: TransferWatch): Promise<Listed> {
    const answer = await this.#index(name, watch);
    return { entry: findEntry(answer.body, name.skill, whatOf(name)), answer };
  }

  #index(name: IndexName, watch?: TransferWatch): Promise<HttpAnswer> {
    return this.#client.get({ url: name.url, what: whatOf(name), maxBytes: MAX_INDEX_BYTES, watch });
  }

  #download({ entry, answer }: Listed, watch?: TransferWatch): Promise<FoundFiles> {
    return hasArtifact(entry) ? this.#artifact(entry, answer, watch) : this.#eachFile(entry, answer, watch);
  }

  async #artifact(entry: ArtifactEntry, index: HttpAnswer, watch?: TransferWatch): Promise<FoundFiles> {
    const { name, type, url, digest } = entry;
    const what = `the skill ${quote(name)}`;
    if (!URL.canParse(url, index.url)) throw badAnswer(what, `its address ${quote(url)} is not a valid URL`);
    const maxBytes = type === 'archive' ? SKILL_ARCHIVE.packedBytes : BUNDLE_LIMITS.totalBytes;
    const { body } = await this.#client.get({
      url: new URL(url, index.url),
      what,
      maxBytes,
      digest,
      from: index.reach,
      watch,
    });
    if (type === 'skill-md') return { files: new Map([['SKILL.md', body]]), revision: digest };
    const { files } = await readArchive(body, { what: `The archive of ${quote(name)}`, top: 'find' });
    return { files, revision: digest };
  }

  /** Every path is checked before anything is requested. */
  async #eachFile(entry: FilesEntry, index: HttpAnswer, watch?: TransferWatch): Promise<FoundFiles> {
    const { name, files: listed, digest } = entry;
    const set = new FileSet(`The list of files of ${quote(name)}`);
    const wanted = listed.map((file) => ({
      path: set.claim(Buffer.from(file.path), 0) ?? '',
      digest: file.digest,
    }));
    let left = SKILL_ARCHIVE.bytes;
    const failed = new AbortController();
    const signal = AbortSignal.any([failed.signal, ...(watch?.signal ? [watch.signal] : [])]);
    const fetchOne = async ({ path, digest: own }: FilesEntry['files'][number]): Promise<void> => {
      const { body } = await this.#client.get({
        url: new URL(`${name}/${path.split('/').map(encodeURIComponent).join('/')}`, index.url),
        what: `the file ${quote(path)} of the skill ${quote(name)}`,
        maxBytes: Math.max(0, left),
        digest: own,
        from: index.reach,
        watch: { ...watch, signal },
      });
      left -= body.length;
      if (left < 0) throw set.refusal(`its files have more than ${SKILL_ARCHIVE.bytes} bytes`);
      set.put(path, body);
    };
    try {
      await mapConcurrently(wanted, fetchOne, PARALLEL);
    } finally {
      // Ends the other requests if one has failed.
      failed.abort();
    }
    const files = set.finish();
    const revision = digestOf(new Map([...files].map(([path, bytes]) => [path, sha256(bytes)])));
    if (digest !== undefined && digest !== revision)
      throw badAnswer(
        `the skill ${quote(name)}`,
        `its files have the digest ${revision}, and the index says ${digest}`,
      );
    return { files, revision };
  }
}

/** The revision, if the index says it; otherwise the files have to be hashed. */
function statedRevision(entry: IndexEntry): string | undefined {
  if (hasArtifact(entry)) return entry.digest;
  const hashes = entry.files.flatMap(({ path, digest }) =>
    digest === undefined ? [] : [[path, digest.slice('sha256:'.length)] as const],
  );
  return hashes.length === entry.files.length ? digestOf(new Map(hashes)) : undefined;
}

function digestOf(hashes: ReadonlyMap<string, string>): string {
  return digestFiles(Object.fromEntries(hashes));
}

function whatOf({ url }: IndexName): string {
  return `the index ${quote(url)}`;
}

/** An index may show one skill and deliver another. Anything but a plain name is left to whoever reads the file. */
function assertOwnName(files: ReadonlyMap<string, Buffer>, name: string, what: string): void {
  const text = files.get('SKILL.md')?.toString('utf8', 0, 8192) ?? '';
  const said = /^---\r?\n(?:(?!---)[^\n]*\n)*?name:[ \t]*(['"]?)([\w-]+)\1[ \t]*\r?\n/.exec(text)?.[2];
  if (said !== undefined && said !== name)
    throw badAnswer(what, `it delivers the skill ${quote(said)} under the name ${quote(name)}`);
}
