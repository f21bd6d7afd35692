/**
 * Skills in repositories on GitHub: a tag, branch or commit becomes a commit, and the archive of that commit is downloaded.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import { REPOSITORY_ARCHIVE } from '../archives/limits.ts';
import { readArchive } from '../archives/read-archive.ts';
import type { Delivery, OfferedVersion, PinnedSource, Source, SourceName } from '../contract.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import type { HttpAnswer, HttpAsk, HttpClient } from '../http/client.ts';
import { badStatus } from '../http/problems.ts';
import { atVersion, isCommit, parseGithub, plainName, type GithubName } from '../references.ts';
import { readJsonAnswer } from './json-answer.ts';
import { assertCommit, badAnswer } from './problems.ts';

const API = 'https://api.github.com';
const MAX_TAGS_BYTES = 1024 ** 2;
/** The most recent ones. */
const TAGS = 100;

const tagsSchema = z
  .array(z.looseObject({ name: z.string().max(255), commit: z.looseObject({ sha: z.string().max(64) }) }))
  .max(TAGS);

export interface GithubSourceOptions {
  client: HttpClient;
  /** `GITHUB_API_URL` names the server of a company, `GITHUB_TOKEN` signs in; the token goes to no other origin. */
  env?: NodeJS.ProcessEnv;
}

export class GithubSource implements Source {
  readonly kind = 'github';
  readonly #client: HttpClient;
  readonly #api: string;
  readonly #token: string | undefined;

  constructor({ client, env = process.env }: GithubSourceOptions) {
    this.#client = client;
    this.#api = (env['GITHUB_API_URL'] || API).replace(/\/$/, '');
    this.#token = env['GITHUB_TOKEN'] || undefined;
  }

  parse(reference: string): SourceName {
    return plainName(parseGithub(reference));
  }

  reference(name: SourceName): string {
    return atVersion(name);
  }

  async fetch(reference: string, watch?: TransferWatch): Promise<Delivery> {
    const name = parseGithub(reference);
    const revision = await this.#commit(name, watch);
    return this.#download(
      name,
      { kind: this.kind, source: name.source, version: name.version, revision },
      watch,
    );
  }

  async fetchPinned(pinned: PinnedSource, watch?: TransferWatch): Promise<Delivery> {
    const name = parseGithub(pinned.source);
    assertCommit(pinned);
    return this.#download(name, pinned, watch);
  }

  async versions({ source }: PinnedSource): Promise<readonly OfferedVersion[]> {
    const { owner, repository } = parseGithub(source);
    const what = `the tags of ${quote(source)}`;
    const url = this.#url(owner, repository, `tags?per_page=${TAGS}`);
    const { body } = await this.#get({ url, what, maxBytes: MAX_TAGS_BYTES });
    return readJsonAnswer(body, tagsSchema, what).map(({ name, commit }) => ({
      version: name,
      revision: commit.sha,
    }));
  }

  async currentRevision(pinned: PinnedSource): Promise<string> {
    return this.#commit(parseGithub(this.reference(pinned)));
  }

  async #commit({ owner, repository, version = 'HEAD' }: GithubName, watch?: TransferWatch): Promise<string> {
    if (isCommit(version)) return version;
    const what = `the commit of ${quote(version)} in ${quote(`github:${owner}/${repository}`)}`;
    const ref = version.split('/').map(encodeURIComponent).join('/');
    const { body } = await this.#get({
      url: this.#url(owner, repository, `commits/${ref}`),
      what,
      maxBytes: 1024,
      headers: { accept: 'application/vnd.github.sha' },
      watch,
    });
    const commit = body.toString('latin1').trim();
    if (!isCommit(commit)) throw badAnswer(what, 'it is not a commit');
    return commit;
  }

  async #download(
    { owner, repository, path }: GithubName,
    pinned: PinnedSource,
    watch?: TransferWatch,
  ): Promise<Delivery> {
    const { revision, source } = pinned;
    const what = `the archive of ${quote(source)} at ${revision.slice(0, 12)}`;
    const { body } = await this.#get({
      url: this.#url(owner, repository, `tarball/${revision}`),
      what,
      maxBytes: REPOSITORY_ARCHIVE.packedBytes,
      watch,
    });
    const { files, comment } = await readArchive(body, {
      what: `The archive of ${quote(source)}`,
      format: 'tar+gzip',
      limits: REPOSITORY_ARCHIVE,
      top: 'remove',
      below: path === '' ? undefined : path,
    });
    if (comment !== revision) throw badAnswer(what, 'it is the archive of another commit');
    return { pinned, files, attachments: [] };
  }

  #url(owner: string, repository: string, rest: string): string {
    return `${this.#api}/repos/${owner}/${repository}/${rest}`;
  }

  /** The client drops the token as soon as the server redirects to another origin. */
  async #get(ask: HttpAsk): Promise<HttpAnswer> {
    const authorization = this.#token === undefined ? undefined : `Bearer ${this.#token}`;
    const answer = await this.#client.send({ ...ask, authorization });
    if (answer.status === 200) return answer;
    const refused = badStatus(ask.what, answer.status, answer.body);
    throw new SkillError(refused.code, refused.message, {
      fix: this.#fixFor(answer.status),
      detail: refused.detail,
    });
  }

  #fixFor(status: number): string {
    const isSignedIn = this.#token !== undefined;
    if (status === 404 || status === 422)
      return `Check the name and the version. If the repository is private, ${isSignedIn ? 'give the token of GITHUB_TOKEN access to it' : 'set GITHUB_TOKEN'}.`;
    if (status === 401) return 'Set GITHUB_TOKEN to a valid token, or unset it for public repositories.';
    if (status === 403 || status === 429)
      return isSignedIn
        ? 'Wait, and try again: GitHub limits the requests of each account.'
        : 'Set GITHUB_TOKEN, which raises the limit on requests, or wait and try again.';
    return 'Try again later.';
  }
}
