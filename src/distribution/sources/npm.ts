/**
 * Skills in packages of an npm registry. A tarball is downloaded, verified and read; no script of it runs, and nothing that
 * it depends on is installed.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { quote } from '../../manifest/quote.ts';
import { SKILL_ARCHIVE } from '../archives/limits.ts';
import { readArchive } from '../archives/read-archive.ts';
import type { Delivery, OfferedVersion, PinnedSource, Source, SourceName } from '../contract.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import type { HttpAnswer, HttpClient } from '../http/client.ts';
import { wrongDigest } from '../http/problems.ts';
import { atVersion, parseNpm, plainName, type NpmName } from '../references.ts';
import { readJsonAnswer } from './json-answer.ts';
import { badAnswer, movedSource } from './problems.ts';

const MAX_VERSION_BYTES = 1024 ** 2;
/** Packages with thousands of versions. */
const MAX_PACKAGE_BYTES = 16 * 1024 ** 2;
const SHA512 = /^sha512-[A-Za-z\d+/]{86}==$/;

const distSchema = z.looseObject({
  tarball: z.string().max(4096),
  integrity: z.string().max(4096).optional(),
});
const versionSchema = z.looseObject({
  name: z.string().max(214),
  version: z.string().max(256),
  dist: distSchema,
});
const packageSchema = z.looseObject({
  versions: z.record(z.string().max(256), z.looseObject({ dist: distSchema })),
});
const ownSchema = z.looseObject({ name: z.string(), version: z.string() });

/** The address of the registry for a scope, from the configuration of npm. */
export type FindRegistry = (scope: string | undefined) => Promise<string>;

export interface NpmSourceOptions {
  client: HttpClient;
  findRegistry: FindRegistry;
}

interface Release {
  version: string;
  integrity: string;
  tarball: string;
  answer: HttpAnswer;
}

export class NpmSource implements Source {
  readonly kind = 'npm';
  readonly #client: HttpClient;
  readonly #findRegistry: FindRegistry;

  constructor({ client, findRegistry }: NpmSourceOptions) {
    this.#client = client;
    this.#findRegistry = findRegistry;
  }

  parse(reference: string): SourceName {
    return plainName(parseNpm(reference));
  }

  reference(name: SourceName): string {
    return atVersion(name);
  }

  async fetch(reference: string, watch?: TransferWatch): Promise<Delivery> {
    const name = parseNpm(reference);
    return this.#download(name, await this.#release(name, watch), watch);
  }

  async fetchPinned(pinned: PinnedSource, watch?: TransferWatch): Promise<Delivery> {
    const name = parseNpm(this.reference(pinned));
    const release = await this.#release(name, watch);
    if (release.integrity !== pinned.revision) throw movedSource(pinned, release.integrity);
    return { ...(await this.#download(name, release, watch)), pinned };
  }

  async versions({ source }: PinnedSource): Promise<readonly OfferedVersion[]> {
    const { name, scope } = parseNpm(source);
    const what = `the versions of the npm package ${quote(name)}`;
    const { body } = await this.#client.get({
      url: await this.#url(name, scope),
      what,
      maxBytes: MAX_PACKAGE_BYTES,
      // Without the descriptions of all versions.
      headers: { accept: 'application/vnd.npm.install-v1+json' },
    });
    const { versions } = readJsonAnswer(body, packageSchema, what);
    return Object.entries(versions).map(([version, { dist }]) => {
      const revision = SHA512.test(dist.integrity ?? '') ? dist.integrity : undefined;
      return { version, revision };
    });
  }

  async currentRevision(pinned: PinnedSource): Promise<string> {
    return (await this.#release(parseNpm(this.reference(pinned)))).integrity;
  }

  async #url(name: string, scope: string | undefined): Promise<string> {
    const registry = await this.#findRegistry(scope);
    return `${registry.replace(/\/$/, '')}/${name.replace('/', '%2f')}`;
  }

  async #release({ name, scope, version = 'latest' }: NpmName, watch?: TransferWatch): Promise<Release> {
    const what = `the npm package ${quote(`${name}@${version}`)}`;
    const url = `${await this.#url(name, scope)}/${encodeURIComponent(version)}`;
    const answer = await this.#client.get({ url, what, maxBytes: MAX_VERSION_BYTES, watch });
    const said = readJsonAnswer(answer.body, versionSchema, what);
    if (said.name !== name) throw badAnswer(what, `it is about the package ${quote(said.name)}`);
    const isExact = /^\d+\.\d+\.\d+/.test(version);
    if (isExact && said.version !== version)
      throw badAnswer(what, `it is about version ${quote(said.version)}`);
    const { integrity = '', tarball } = said.dist;
    if (!SHA512.test(integrity))
      throw badAnswer(what, 'it has no SHA-512 checksum, so its bytes cannot be verified');
    // The version of the answer becomes part of a reference.
    parseNpm(`npm:${name}@${said.version}`);
    return { version: said.version, integrity, tarball, answer };
  }

  async #download(name: NpmName, release: Release, watch?: TransferWatch): Promise<Delivery> {
    const { version, integrity, tarball, answer } = release;
    const what = `the tarball of the npm package ${quote(`${name.name}@${version}`)}`;
    const { body } = await this.#client.get({
      url: tarball,
      what,
      maxBytes: SKILL_ARCHIVE.packedBytes,
      from: answer.reach,
      watch,
    });
    const found = `sha512-${createHash('sha512').update(body).digest('base64')}`;
    if (found !== integrity) throw wrongDigest(what, integrity, found);
    const { files } = await readArchive(body, {
      what: `The tarball of ${quote(name.name)}`,
      format: 'tar+gzip',
      top: 'remove',
    });
    assertOwnName(files, { name: name.name, version, what });
    return {
      pinned: { kind: this.kind, source: name.source, version, revision: integrity },
      files,
      attachments: [],
    };
  }
}

/** A registry may show one package and deliver another. */
function assertOwnName(
  files: ReadonlyMap<string, Buffer>,
  { name, version, what }: { name: string; version: string; what: string },
): void {
  const own = files.get('package.json');
  if (!own) throw badAnswer(what, 'it has no package.json');
  const said = readJsonAnswer(own, ownSchema, `${what} (package.json)`);
  if (said.name !== name || said.version !== version)
    throw badAnswer(what, `its package.json says ${quote(`${said.name}@${said.version}`)}`);
}
