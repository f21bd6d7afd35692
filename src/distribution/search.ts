/**
 * Looks for skills in catalogs and well-known indexes that a person named. What a list says is only a claim; for skills in
 * registries, it is replaced by what their lock, their signatures and the documents beside them prove.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { parseLock } from '../load/lock.ts';
import type { Signer } from '../load/skills-lock.ts';
import { printableLine } from '../manifest/printable.ts';
import { quote } from '../manifest/quote.ts';
import { mapConcurrently } from '../tools/map-concurrently.ts';
import type { Publisher } from '../trust/publishers.ts';
import { findSigner } from '../trust/signer.ts';
import { ANNOTATIONS } from '../vocabulary/oci-types.ts';
import { sourceKindOf } from '../vocabulary/source-kinds.ts';
import { readAttestations, type Attested } from './attestations.ts';
import type { TransferWatch } from './transfer-watch.ts';
import type { HttpClient } from './http/client.ts';
import { readCatalog, type CatalogEntry } from './oci/catalog.ts';
import type { FindCredentials } from './oci/docker-config.ts';
import { pullLock } from './oci/layout.ts';
import { parseManifest } from './oci/manifest.ts';
import { formatReference, parseReference } from './oci/reference.ts';
import { fetchAttachments } from './oci/referrers.ts';
import { Repository } from './oci/registry.ts';
import { parseIndex } from './references.ts';
import { HttpsSource } from './sources/https.ts';
import { matchWords, searchIndex } from './sources/skill-index.ts';

/** More would be many requests, and nobody reads them. */
const MAX_HITS = 20;
const PARALLEL = 8;
/** Of the documents about one result: a catalog may list many. */
const MAX_DOCUMENT_BYTES = 4 * 1024 ** 2;

/** What the lock of a skill and the documents beside it prove. */
export interface Proof {
  readonly capabilities: readonly string[];
  readonly signer: Signer;
  /** The name that the policy gives to the signer. */
  readonly publisher?: string | undefined;
  readonly attested: readonly Attested[];
}

/** What a list says, which nobody has verified. */
export interface Claims {
  readonly capabilities?: readonly string[] | undefined;
  readonly signer?: string | undefined;
  readonly attestations?: readonly string[] | undefined;
}

export interface SearchHit {
  readonly name: string;
  readonly description: string;
  readonly version?: string | undefined;
  /** For `add`. With a digest if it is in a registry, so that exactly this is added. */
  readonly reference: string;
  readonly proof?: Proof | undefined;
  readonly claims?: Claims | undefined;
  /** Why nothing is proven. */
  readonly unproven?: string | undefined;
}

export interface SearchResult {
  readonly catalog: string;
  /** The best ones, if there are many. */
  readonly hits: readonly SearchHit[];
  readonly total: number;
  /** Why the catalog could not be searched. */
  readonly error?: SkillError | undefined;
}

export interface SearchOptions {
  readonly http: HttpClient;
  readonly publishers: readonly Publisher[];
  readonly credentials?: FindCredentials;
  readonly watch?: TransferWatch | undefined;
}

/** Splits what a person named. Throws `usage` for anything that is not a catalog or an index. */
export function assertCatalog(text: string): void {
  const kind = sourceKindOf(text);
  if (kind === 'oci' && parseReference(text).name !== '') return;
  if (kind === 'https' && parseIndex(text).skill === undefined) return;
  throw new SkillError('usage', `${quote(text)} is not a catalog`, {
    fix: 'Name a catalog in a registry (oci://HOST/NAME) or a well-known index (https://HOST/).',
    detail: { catalog: text },
  });
}

/** Searches every catalog; one that does not answer hides nothing of the others. */
export async function searchCatalogs(
  catalogs: readonly string[],
  words: readonly string[],
  options: SearchOptions,
): Promise<SearchResult[]> {
  for (const text of catalogs) assertCatalog(text);
  return mapConcurrently(
    catalogs,
    async (catalog) => {
      try {
        const search = sourceKindOf(catalog) === 'oci' ? searchRegistry : searchSite;
        return { catalog, ...(await search(catalog, words, options)) };
      } catch (error) {
        if (error instanceof SkillError && error.code !== 'cancelled')
          return { catalog, hits: [], total: 0, error };
        throw error;
      }
    },
    PARALLEL,
  );
}

type Found = Pick<SearchResult, 'hits' | 'total'>;

async function searchSite(
  address: string,
  words: readonly string[],
  { http, watch }: SearchOptions,
): Promise<Found> {
  const bytes = await new HttpsSource({ client: http }).index(address, watch);
  const found = searchIndex(bytes, words, `the index ${quote(address)}`);
  const hits = found.slice(0, MAX_HITS).map(({ name, description, version, ...claims }) => ({
    name,
    description,
    version,
    claims,
    reference: `${parseIndex(address).url}#${name}`,
    unproven: 'an index says it, and nothing of it is verified before `add`',
  }));
  return { hits, total: found.length };
}

async function searchRegistry(
  text: string,
  words: readonly string[],
  options: SearchOptions,
): Promise<Found> {
  const place = parseReference(text);
  const repository = new Repository(place, options);
  const entries = await readCatalog(repository, place.digest ?? place.tag);
  const found = matchWords(entries, words);
  const hits = await mapConcurrently(
    found.slice(0, MAX_HITS),
    (entry) => examine(repository, entry, options),
    PARALLEL,
  );
  return { hits, total: found.length };
}

/** The catalog has the skill itself: nothing is requested from the place that it names. */
async function examine(
  repository: Repository,
  entry: CatalogEntry,
  options: SearchOptions,
): Promise<SearchHit> {
  const reference = formatReference(entry.reference);
  const claimed = {
    name: printableLine(entry.name),
    description: printableLine(entry.description),
    version: entry.version === undefined ? undefined : printableLine(entry.version),
    reference,
  };
  try {
    return { ...claimed, ...(await prove(repository, entry, options)) };
  } catch (error) {
    if (error instanceof SkillError && error.code !== 'cancelled')
      return { ...claimed, unproven: error.message };
    throw error;
  }
}

async function prove(
  repository: Repository,
  { digest, name }: CatalogEntry,
  { publishers }: SearchOptions,
): Promise<Pick<SearchHit, 'proof' | 'unproven'>> {
  const { bytes } = await repository.pullManifest(digest);
  const what = repository.describe(digest);
  const manifest = parseManifest(bytes, what);
  const { [ANNOTATIONS.title]: title, [ANNOTATIONS.skillName]: own } = manifest.annotations ?? {};
  if (name !== title && name !== own)
    return { unproven: `the catalog names it so, and it calls itself ${quote(title ?? own ?? '')}` };
  const [locked, attachments] = await Promise.all([
    pullLock(manifest, what, (layer, of, most) => repository.pullBlob(layer, of, most)),
    fetchAttachments(repository, digest, MAX_DOCUMENT_BYTES),
  ]);
  if (!locked) return { unproven: 'it was published without skill.lock' };
  const { lock, signature } = locked;
  const { capabilities } = parseLock(lock.toString('utf8'));
  const signed = await findSigner(
    { manifest: { name }, ...(signature ? { vouched: { lock, signature } } : {}) },
    { publishers },
  );
  const attested = await readAttestations(attachments, { lock, revision: digest, publishers });
  const { signer, publisher } = signed;
  return { proof: { capabilities, signer, publisher, attested } };
}
