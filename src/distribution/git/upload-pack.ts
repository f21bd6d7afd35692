/**
 * Speaks with a git server over HTTP, in version 2 of the protocol: lists references, and downloads one commit without its
 * history. The requests are ours, so that the limits of the HTTP client hold; what arrives is not unpacked here.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote, shortLine } from '../../manifest/quote.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import type { HttpAnswer, HttpClient } from '../http/client.ts';
import { badAnswer, notThere } from '../sources/problems.ts';
import { isCommit } from '../references.ts';
import { DELIMITER, FLUSH, pktLine, readPktLines, type PktLine } from './pkt-line.ts';

export const MAX_PACK_BYTES: number = 128 * 1024 ** 2;
const MAX_CAPABILITIES_BYTES = 64 * 1024;
const MAX_REFS_BYTES = 8 * 1024 ** 2;
const MAX_REFS = 100_000;
const AGENT = 'agent=skillcell\n';

export interface GitRef {
  name: string;
  /** The commit, even for a tag with a message of its own. */
  commit: string;
}

export class UploadPack {
  readonly #client: HttpClient;
  readonly #url: string;
  readonly #watch: TransferWatch | undefined;
  readonly #what: string;
  #format: string | undefined;

  constructor(client: HttpClient, url: string, watch?: TransferWatch) {
    this.#client = client;
    this.#url = url.replace(/\/$/, '');
    this.#watch = watch;
    this.#what = `the git repository ${quote(url)}`;
  }

  /** References whose names start with one of these. */
  async refs(prefixes: readonly string[]): Promise<GitRef[]> {
    const args = ['peel\n', ...prefixes.map((prefix) => `ref-prefix ${prefix}\n`)];
    const lines = await this.#command('ls-refs', args, MAX_REFS_BYTES);
    const texts = lines.flatMap((line) => (Buffer.isBuffer(line) ? [line.toString('utf8').trimEnd()] : []));
    if (texts.length > MAX_REFS) throw badAnswer(this.#what, `it has more than ${MAX_REFS} references`);
    return texts.map((text) => this.#ref(text));
  }

  /** The commit that a tag, branch or commit names now. */
  async resolve(version: string | undefined): Promise<string> {
    if (version !== undefined && isCommit(version)) return version;
    const names = version === undefined ? ['HEAD'] : [`refs/tags/${version}`, `refs/heads/${version}`];
    const refs = await this.refs(names);
    // As in git itself, a tag wins over a branch of the same name.
    const found = names.map((name) => refs.find((ref) => ref.name === name)).find((ref) => ref !== undefined);
    if (found) return found.commit;
    throw notThere(
      this.#what,
      version === undefined ? 'it has no commits' : `it has no tag or branch ${quote(version)}`,
      'Check the version, or write the whole commit.',
    );
  }

  /** The pack of this commit, with all of its files and none of its history. */
  async pack(commit: string): Promise<Buffer> {
    const args = ['no-progress\n', 'ofs-delta\n', 'deepen 1\n', `want ${commit}\n`, 'done\n'];
    const lines = await this.#command('fetch', args, MAX_PACK_BYTES);
    const start = lines.findIndex(
      (line) => Buffer.isBuffer(line) && line.toString('latin1') === 'packfile\n',
    );
    if (start === -1) throw badAnswer(this.#what, 'it sends no files');
    return Buffer.concat(lines.slice(start + 1).flatMap((line) => this.#packPart(line)));
  }

  #packPart(line: PktLine): Buffer[] {
    if (!Buffer.isBuffer(line)) return [];
    const [band] = line;
    if (band === 1) return [line.subarray(1)];
    if (band === 2) return [];
    throw this.#refusedBy(line.subarray(1));
  }

  #ref(text: string): GitRef {
    const [oid = '', name = '', ...attributes] = text.split(' ');
    const peeled = attributes.find((one) => one.startsWith('peeled:'))?.slice('peeled:'.length);
    const commit = peeled ?? oid;
    if (!isCommit(commit) || name === '')
      throw badAnswer(this.#what, 'it has a malformed list of references');
    return { name, commit };
  }

  async #command(command: string, args: readonly string[], maxBytes: number): Promise<PktLine[]> {
    const format = await this.#objectFormat();
    const lines = [`command=${command}\n`, AGENT, `object-format=${format}\n`].map(pktLine);
    const body = Buffer.from([...lines, DELIMITER, ...args.map(pktLine), FLUSH].join(''));
    const answer = await this.#send({
      method: 'POST',
      url: `${this.#url}/git-upload-pack`,
      maxBytes,
      body,
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        accept: 'application/x-git-upload-pack-result',
      },
    });
    return this.#lines(answer);
  }

  /** Asked once. */
  async #objectFormat(): Promise<string> {
    this.#format ??= await this.#askFormat();
    return this.#format;
  }

  async #askFormat(): Promise<string> {
    const url = `${this.#url}/info/refs?service=git-upload-pack`;
    const answer = await this.#send({ method: 'GET', url, maxBytes: MAX_CAPABILITIES_BYTES, headers: {} });
    const texts = this.#lines(answer).flatMap((line) =>
      Buffer.isBuffer(line) ? [line.toString('utf8').trim()] : [],
    );
    if (!texts.includes('version 2'))
      throw badAnswer(this.#what, 'it does not speak version 2 of the protocol of git');
    const format =
      texts.find((text) => text.startsWith('object-format='))?.slice('object-format='.length) ?? 'sha1';
    if (format === 'sha1' || format === 'sha256') return format;
    throw badAnswer(this.#what, `it names its objects by the unknown hash ${quote(format)}`);
  }

  async #send(ask: {
    method: 'GET' | 'POST';
    url: string;
    maxBytes: number;
    headers: Record<string, string>;
    body?: Buffer;
  }): Promise<HttpAnswer> {
    const { headers, ...rest } = ask;
    return this.#client.get({
      ...rest,
      what: this.#what,
      headers: { 'git-protocol': 'version=2', ...headers },
      watch: this.#watch,
    });
  }

  #lines({ body }: HttpAnswer): PktLine[] {
    const lines = readPktLines(body);
    if (!lines)
      throw badAnswer(
        this.#what,
        /^\s*</.test(body.toString('latin1', 0, 64)) ? 'it is a web page' : 'it is not the protocol of git',
      );
    const error = lines.find(
      (line) => Buffer.isBuffer(line) && line.subarray(0, 4).toString('latin1') === 'ERR ',
    );
    if (error) throw this.#refusedBy((error as Buffer).subarray(4));
    return lines;
  }

  #refusedBy(words: Buffer): SkillError {
    const said = shortLine(words.toString('utf8').trim());
    return new SkillError(
      'skill_unavailable',
      `Could not transfer ${this.#what}: the server says ${quote(said)}`,
      {
        fix: 'Check the commit: some servers deliver only commits that a tag or branch contains.',
        detail: { said },
      },
    );
  }
}
