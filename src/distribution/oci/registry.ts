/**
 * One repository of a registry, by the distribution specification 1.1: blobs, manifests and tags. Everything that arrives is
 * measured and hashed before it is used.
 *
 * @module
 */
import { printableJson } from '../../manifest/printable.ts';
import { quote } from '../../manifest/quote.ts';
import { MANIFEST_TYPES } from '../../vocabulary/oci-types.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import type { HttpClient } from '../http/client.ts';
import { type HttpAnswer, type HttpAsk } from '../http/client.ts';
import { badStatus } from '../http/problems.ts';
import { parseWebAddress } from '../http/web-address.ts';
import { dockerCredentials, type FindCredentials } from './docker-config.ts';
import { digestOf, MAX_MANIFEST_BYTES, parseJsonObject, type Blob, type Descriptor } from './manifest.ts';
import { artifactDrift, artifactRefused, registryRefused } from './problems.ts';
import { DIGEST, originOf, TAG, type OciReference } from './reference.ts';
import { signIn } from './sign-in.ts';

const MAX_PAGE_BYTES = 1024 * 1024;
const MAX_PAGES = 100;
const MAX_TAGS = 10_000;
/** What registries answer to requests that they do not know. */
const ABSENT: ReadonlySet<number> = new Set([400, 404, 405, 501]);
/** For everything except blobs. */
const SHORT_MS = 60_000;

export interface RepositoryOptions {
  readonly http: HttpClient;
  readonly credentials?: FindCredentials;
  readonly watch?: TransferWatch | undefined;
}

/** A manifest or index as it arrived. */
export interface FetchedManifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

type Access = 'pull' | 'pull,push';

export class Repository {
  readonly origin: URL;
  readonly name: string;
  readonly #http: HttpClient;
  readonly #credentials: FindCredentials;
  readonly #watch: TransferWatch | undefined;
  readonly #authorization = new Map<Access, string>();

  constructor(
    { host, name }: OciReference,
    { http, credentials = dockerCredentials(), watch }: RepositoryOptions,
  ) {
    this.origin = new URL(originOf(host));
    this.name = name;
    this.#http = http;
    this.#credentials = credentials;
    this.#watch = watch;
  }

  async hasBlob(digest: string): Promise<boolean> {
    const what = `the part ${digest}`;
    const { status, body } = await this.#ask({
      what,
      path: `blobs/${digest}`,
      method: 'HEAD',
      access: 'pull,push',
    });
    if (status === 200 || status === 404) return status === 200;
    throw badStatus(what, status, body);
  }

  /** Uploads a blob unless the registry has it; returns whether it did. */
  async pushBlob({ descriptor, bytes }: Blob): Promise<boolean> {
    const { digest } = descriptor;
    if (await this.hasBlob(digest)) return false;
    const what = `the part ${digest}`;
    const begun = await this.#ask({
      what,
      path: 'blobs/uploads/',
      method: 'POST',
      access: 'pull,push',
      body: Buffer.alloc(0),
    });
    if (begun.status !== 202) throw badStatus(what, begun.status, begun.body);
    const { location } = begun.headers;
    if (location === undefined) throw registryRefused(what, 'did not say where to upload it');
    const url = parseWebAddress(location, what, begun.url);
    if (url.protocol !== this.origin.protocol)
      throw registryRefused(what, 'wants an upload without encryption');
    url.searchParams.set('digest', digest);
    const done = await this.#ask({
      what,
      url,
      from: begun.reach,
      method: 'PUT',
      access: 'pull,push',
      headers: { 'content-type': 'application/octet-stream' },
      body: bytes,
    });
    if (done.status !== 201) throw badStatus(what, done.status, done.body);
    return true;
  }

  /** The bytes of a blob, which have exactly the size and digest of the descriptor. */
  async pullBlob({ digest, size }: Descriptor, what: string, maxBytes: number): Promise<Buffer> {
    if (size > maxBytes) throw artifactRefused(what, `it has ${size} bytes, and ${maxBytes} are allowed`);
    const { status, body } = await this.#ask({
      what,
      path: `blobs/${digest}`,
      access: 'pull',
      digest,
      maxBytes: size,
      totalMs: undefined,
    });
    if (status !== 200) throw badStatus(what, status, body);
    if (body.length !== size) throw artifactRefused(what, `it has ${body.length} bytes instead of ${size}`);
    return body;
  }

  /** The manifest behind a tag or digest; undefined if there is none. */
  async findManifest(reference: string): Promise<FetchedManifest | undefined> {
    const what = this.describe(reference);
    // It becomes a part of an address, and may come from a lockfile that a stranger wrote.
    if (!DIGEST.test(reference) && !TAG.test(reference))
      throw artifactRefused(what, 'its version is neither a tag nor a digest');
    const answer = await this.#ask({
      what,
      path: `manifests/${reference}`,
      access: 'pull',
      headers: { accept: `${MANIFEST_TYPES.image}, ${MANIFEST_TYPES.index}` },
      maxBytes: MAX_MANIFEST_BYTES,
      digest: DIGEST.test(reference) ? reference : undefined,
    });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw badStatus(what, answer.status, answer.body);
    const digest = digestOf(answer.body);
    const claimed = answer.headers['docker-content-digest'];
    if (claimed !== undefined && claimed !== digest)
      throw artifactDrift(
        what,
        `the registry says that its digest is ${quote(String(claimed))}, and it is ${digest}`,
      );
    const mediaType = (answer.headers['content-type'] ?? '').replace(/;.*$/, '').trim().toLowerCase();
    this.#assertType(what, mediaType, answer.body);
    return { digest, mediaType, bytes: answer.body };
  }

  async pullManifest(reference: string): Promise<FetchedManifest> {
    const found = await this.findManifest(reference);
    if (found) return found;
    throw badStatus(this.describe(reference), 404);
  }

  /** Bytes with two types would be read differently by two programs. */
  #assertType(what: string, header: string, bytes: Buffer): void {
    const { mediaType: inside } = parseJsonObject(bytes, what) as { mediaType?: unknown };
    if (inside !== undefined && inside !== header)
      throw registryRefused(what, `sent it as ${quote(header)}, and it says ${printableJson(inside)}`);
  }

  /** Pushes a manifest under a tag or its own digest; returns whether the registry keeps the list of its subject. */
  async pushManifest({ descriptor, bytes }: Blob, reference: string = descriptor.digest): Promise<boolean> {
    const what = this.describe(reference);
    const { status, headers, body } = await this.#ask({
      what,
      path: `manifests/${reference}`,
      method: 'PUT',
      access: 'pull,push',
      headers: { 'content-type': descriptor.mediaType },
      body: bytes,
    });
    if (status !== 201) throw badStatus(what, status, body);
    const stored = headers['docker-content-digest'];
    if (stored !== undefined && stored !== descriptor.digest)
      throw artifactDrift(
        what,
        `the registry stored ${quote(String(stored))} instead of ${descriptor.digest}`,
      );
    return headers['oci-subject'] !== undefined;
  }

  /** All tags, page by page. */
  async tags(): Promise<string[]> {
    const what = `the versions of ${quote(this.name)}`;
    const tags: string[] = [];
    for await (const { tags: page } of this.pages(`tags/list`, what)) {
      for (const tag of Array.isArray(page) ? (page as unknown[]) : [])
        if (typeof tag === 'string' && TAG.test(tag)) tags.push(tag);
      if (tags.length > MAX_TAGS) throw registryRefused(what, `lists more than ${MAX_TAGS}`);
    }
    return [...new Set(tags)];
  }

  /** JSON objects page by page, by the `Link` header, which may only lead to the same list. None if there is no such list. */
  async *pages(path: string, what: string, accept?: string): AsyncGenerator<Record<string, unknown>> {
    const seen = new Set<string>();
    let url: URL | undefined = this.#url(path);
    while (url) {
      if (seen.has(url.href) || seen.size >= MAX_PAGES)
        throw registryRefused(what, 'sends a list that does not end');
      seen.add(url.href);
      const headers: Record<string, string> = accept === undefined ? {} : { accept };
      const answer = await this.#ask({ what, url, access: 'pull', headers, maxBytes: MAX_PAGE_BYTES });
      if (ABSENT.has(answer.status) && seen.size === 1) return;
      if (answer.status !== 200) throw badStatus(what, answer.status, answer.body);
      yield parseJsonObject(answer.body, what) as Record<string, unknown>;
      url = this.#nextPage(answer, url, what);
    }
  }

  /** How this artifact is named in messages. */
  describe(reference: string): string {
    return quote(`${this.origin.host}/${this.name}${DIGEST.test(reference) ? '@' : ':'}${reference}`);
  }

  #nextPage({ headers }: HttpAnswer, here: URL, what: string): URL | undefined {
    const link = /^\s*<([^>]{1,4096})>\s*;\s*rel="?next"?/.exec(String(headers['link'] ?? ''))?.[1];
    if (link === undefined) return undefined;
    const next = parseWebAddress(link, what, here);
    if (next.origin !== here.origin || next.pathname !== here.pathname)
      throw registryRefused(what, 'continues its list somewhere else');
    return next;
  }

  #url(path: string): URL {
    return new URL(`/v2/${this.name}/${path}`, this.origin);
  }

  /** Sends a request with what we know about signing in, and signs in once if the registry asks for it. */
  async #ask({ path = '', access, ...rest }: RepositoryAsk): Promise<HttpAnswer> {
    const url = rest.url ?? this.#url(path);
    const isOwn = new URL(url).origin === this.origin.origin;
    const ask: HttpAsk = {
      maxBytes: MAX_PAGE_BYTES,
      ...withoutUndefined({ totalMs: SHORT_MS, ...rest }),
      what: rest.what,
      url,
      watch: this.#watch,
    };
    const send = (): Promise<HttpAnswer> =>
      this.#http.send({ ...ask, authorization: isOwn ? this.#authorization.get(access) : undefined });
    const first = await send();
    // Answers of other servers are not asked for credentials, and get none.
    if (first.status !== 401 || !isOwn || first.url.origin !== this.origin.origin) return first;
    const scope = `repository:${this.name}:${access}`;
    const how = {
      http: this.#http,
      registry: this.origin,
      find: this.#credentials,
      scope,
      watch: this.#watch,
    };
    this.#authorization.set(access, await signIn(first, how));
    return send();
  }
}

interface RepositoryAsk extends Omit<HttpAsk, 'url' | 'maxBytes' | 'totalMs'> {
  path?: string;
  url?: URL;
  access: Access;
  maxBytes?: number;
  totalMs?: number | undefined;
}

function withoutUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}
