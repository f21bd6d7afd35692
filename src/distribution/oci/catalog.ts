/**
 * Catalogs: lists of skills in a registry, in the form that other programs for Agent Skills write and read. A catalog has a
 * copy of each skill that it lists, so that a search can check what the list says without asking anybody else.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../../errors.ts';
import { ANNOTATIONS, CATALOG_TYPE, MANIFEST_TYPES, SKILL_TYPES } from '../../vocabulary/oci-types.ts';
import { mirrorSkill } from '../mirror.ts';
import { isOlder } from '../semver.ts';
import { check, descriptor, jsonBlob, MAX_ENTRIES, parseJsonObject, parseManifest } from './manifest.ts';
import { artifactRefused } from './problems.ts';
import { formatReference, OCI_PREFIX, parseReference, type OciReference } from './reference.ts';
import { Repository, type RepositoryOptions } from './registry.ts';

/** The tag of a catalog whose reference names none. */
const DEFAULT_TAG = 'latest';
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MAX_DESCRIPTION = 1024;
const MAX_CONFIG_BYTES = 1024 * 1024;

/** What a catalog says about a skill. Nothing of it has been verified. */
export interface CatalogEntry {
  readonly name: string;
  readonly description: string;
  readonly version: string | undefined;
  /** With version and digest, to be added. */
  readonly reference: OciReference;
  readonly digest: string;
}

interface Catalog {
  schemaVersion: 2;
  mediaType: typeof MANIFEST_TYPES.index;
  artifactType: typeof CATALOG_TYPE;
  manifests: unknown[];
  annotations?: Record<string, string> | undefined;
}

const catalog: z.ZodType<Catalog> = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.literal(MANIFEST_TYPES.index),
  artifactType: z.literal(CATALOG_TYPE),
  manifests: z.array(z.unknown()).max(MAX_ENTRIES),
  annotations: z.record(z.string(), z.string()).optional(),
});

/** The skills that a catalog lists. Entries that are malformed or no skills are left out. */
export async function readCatalog(
  repository: Repository,
  tag: string = DEFAULT_TAG,
): Promise<CatalogEntry[]> {
  const { bytes } = await repository.pullManifest(tag);
  return parseCatalog(bytes, repository.describe(tag)).manifests.flatMap((one) => entryOf(one) ?? []);
}

function parseCatalog(bytes: Buffer, what: string): Catalog {
  const value = parseJsonObject(bytes, what);
  const { artifactType } = value as { artifactType?: unknown };
  if (artifactType !== CATALOG_TYPE) throw artifactRefused(what, 'it is not a catalog of skills');
  return check(catalog, value, what);
}

function entryOf(value: unknown): CatalogEntry | undefined {
  const { data } = descriptor.safeParse(value);
  const reference = data?.annotations?.[ANNOTATIONS.skillReference];
  if (!data || reference === undefined) return undefined;
  const { digest, artifactType = SKILL_TYPES.artifact, annotations = {} } = data;
  const found = artifactType === SKILL_TYPES.artifact ? tryParse(reference) : undefined;
  const name = annotations[ANNOTATIONS.title] ?? annotations[ANNOTATIONS.skillName];
  if (!found || name === undefined || (found.digest ?? digest) !== digest) return undefined;
  return {
    name,
    description: annotations[ANNOTATIONS.description] ?? '',
    version: annotations[ANNOTATIONS.version],
    reference: { ...found, digest },
    digest,
  };
}

/** Other programs leave out the prefix. */
function tryParse(text: string): OciReference | undefined {
  try {
    return parseReference(text.startsWith(OCI_PREFIX) ? text : `${OCI_PREFIX}${text}`);
  } catch {
    return undefined;
  }
}

export interface Listing {
  /** The published skill, with tag and digest. */
  readonly skill: OciReference;
  readonly catalog: OciReference;
}

/** Before anything is pushed. */
export function assertCatalogPlace(skill: OciReference, place: OciReference): void {
  if (place.digest !== undefined)
    throw new SkillError('usage', 'A catalog to write to cannot have a digest', {
      fix: 'Leave out the part from "@".',
    });
  if (placeOf(place) === placeOf(skill))
    throw new SkillError('usage', 'A skill cannot be its own catalog', {
      fix: `Name another place for the catalog, such as ${OCI_PREFIX}${place.host}/catalog`,
    });
}

/**
 * Lists a published skill in a catalog instead of its older version, and copies it there with its documents. Returns false
 * if the catalog lists this or a newer one. The catalog is created if it does not exist. Of two that write at the same time,
 * the later one wins, because registries have no way to refuse it.
 */
export async function listInCatalog(listing: Listing, options: RepositoryOptions): Promise<boolean> {
  const { skill, catalog: place } = listing;
  assertCatalogPlace(skill, place);
  const repository = new Repository(place, options);
  const tag = place.tag ?? DEFAULT_TAG;
  const added = await describeEntry(listing, options);
  if (!(await change(repository, tag, added))) return false;
  const copy = { host: place.host, name: place.name };
  await mirrorSkill({ host: skill.host, name: skill.name, digest: skill.digest }, copy, options);
  // Registries refuse the list before they have what it lists. Copying takes a while, so it is read again.
  const next = await change(repository, tag, added);
  if (next) await repository.pushManifest(jsonBlob(MANIFEST_TYPES.index, next), tag);
  return next !== undefined;
}

/** The list with this entry; undefined if it has it or a newer one. */
async function change(repository: Repository, tag: string, added: Entry): Promise<Catalog | undefined> {
  const found = await repository.findManifest(tag);
  const what = repository.describe(tag);
  const now: Catalog = found
    ? parseCatalog(found.bytes, what)
    : {
        schemaVersion: 2,
        mediaType: MANIFEST_TYPES.index,
        artifactType: CATALOG_TYPE,
        manifests: [],
        annotations: { [ANNOTATIONS.catalogName]: repository.name },
      };
  const isSame = (one: unknown): boolean => placeOf(entryOf(one)?.reference) === added.place;
  const listed = now.manifests.filter(isSame).flatMap((one) => entryOf(one) ?? []);
  if (listed.some((one) => one.digest === added.digest || isOlder(added.version, one.version)))
    return undefined;
  const others = now.manifests.filter((one) => !isSame(one));
  if (others.length >= MAX_ENTRIES) throw artifactRefused(what, `it lists ${MAX_ENTRIES} skills already`);
  return { ...now, manifests: [...others, added.descriptor] };
}

function placeOf(reference: OciReference | undefined): string | undefined {
  return reference && formatReference({ host: reference.host, name: reference.name });
}

interface Entry {
  place: string | undefined;
  digest: string;
  version: string | undefined;
  descriptor: object;
}

/** As the specification of catalogs wants entries. */
async function describeEntry({ skill }: Listing, options: RepositoryOptions): Promise<Entry> {
  const source = new Repository(skill, options);
  const { bytes, digest, mediaType } = await source.pullManifest(skill.digest ?? skill.tag ?? '');
  const what = source.describe(digest);
  const { artifactType = SKILL_TYPES.artifact, annotations = {}, config } = parseManifest(bytes, what);
  const text = await source.pullBlob(config, `the config of ${what}`, MAX_CONFIG_BYTES);
  const { description } = parseJsonObject(text, `the config of ${what}`) as { description?: unknown };
  const version = annotations[ANNOTATIONS.version] ?? skill.tag;
  const texts = {
    ...pick(annotations, [ANNOTATIONS.skillName, ANNOTATIONS.title]),
    ...(version === undefined ? {} : { [ANNOTATIONS.version]: version }),
    ...(typeof description === 'string' ? { [ANNOTATIONS.description]: shortText(description) } : {}),
    [ANNOTATIONS.skillReference]: formatReference({ ...skill, digest: undefined }).slice(OCI_PREFIX.length),
  };
  const size = bytes.length;
  return {
    ...{ place: placeOf(skill), digest, version },
    descriptor: { mediaType, digest, size, artifactType, annotations: texts },
  };
}

function shortText(text: string): string {
  return text.replaceAll(INVISIBLE, ' ').trim().slice(0, MAX_DESCRIPTION);
}

function pick(all: Record<string, string>, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])));
}
