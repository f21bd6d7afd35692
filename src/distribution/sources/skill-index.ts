/**
 * Well-known indexes of Agent Skills: a list of names with either one artifact and its digest, or a list of files.
 *
 * @module
 */
import { z } from 'zod';
import { printableLine } from '../../manifest/printable.ts';
import { isSkillName } from '../references.ts';
import { readJsonAnswer } from './json-answer.ts';
import { badAnswer } from './problems.ts';

export const MAX_INDEX_BYTES: number = 4 * 1024 ** 2;
const MAX_SKILLS = 5000;
const MAX_FILES = 2000;

/** What an index may contain beyond the specification, for searching. None of it is verified. */
interface Stated {
  version?: string | undefined;
  capabilities?: string[] | undefined;
  signer?: string | undefined;
  attestations?: string[] | undefined;
}

interface Named extends Stated {
  name: string;
  description: string;
}

export interface ArtifactEntry extends Named {
  type: 'skill-md' | 'archive';
  url: string;
  digest: string;
}

export interface FilesEntry extends Named {
  type?: undefined;
  files: { path: string; digest?: string | undefined }[];
  digest?: string | undefined;
}

export type IndexEntry = ArtifactEntry | FilesEntry;

const entrySchema: z.ZodType<IndexEntry> = makeEntrySchema();
const indexSchema: z.ZodType<{ skills: unknown[] }> = z.looseObject({
  skills: z.array(z.unknown()).max(MAX_SKILLS),
});
const namedSchema: z.ZodType<{ name: string }> = z.looseObject({ name: z.string().max(256) });

function makeEntrySchema(): z.ZodType<IndexEntry> {
  const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is not a sha256 digest');
  const text = z.string().max(1024);
  const path = z.string().min(1).max(1024);
  const named = z.looseObject({
    name: z.string().refine(isSkillName, 'is not the name of a skill'),
    description: text.default(''),
    version: text.optional(),
    capabilities: z.array(text).max(200).optional(),
    signer: text.optional(),
    attestations: z.array(text).max(20).optional(),
  });
  const listed = z.union([path.transform((one) => ({ path: one })), z.looseObject({ path, digest })]);
  return z.union([
    named.extend({ type: z.enum(['skill-md', 'archive']), url: z.string().min(1).max(4096), digest }),
    named.extend({
      type: z.undefined().optional(),
      files: z.array(listed).min(1).max(MAX_FILES),
      digest: digest.optional(),
    }),
  ]);
}

export function hasArtifact(entry: IndexEntry): entry is ArtifactEntry {
  return entry.type !== undefined;
}

/** The entry of this name, or the only one. Entries of other skills may be of kinds that are not known here. */
export function findEntry(bytes: Buffer, skill: string | undefined, what: string): IndexEntry {
  const { skills } = readJsonAnswer(bytes, indexSchema, what);
  const named = skills.flatMap((entry) => {
    const { data } = namedSchema.safeParse(entry);
    return data === undefined ? [] : [{ name: data.name, entry }];
  });
  const found = skill === undefined ? named : named.filter(({ name }) => name === skill);
  const [first] = found;
  if (first && found.length === 1) return readEntry(first.entry, what);
  if (skill !== undefined)
    throw badAnswer(what, first ? `it names "${skill}" twice` : `it has no skill "${skill}"`);
  const names = named.slice(0, 10).map(({ name }) => name);
  throw badAnswer(
    what,
    `it has ${named.length} skills, so add the name of one after "#" (${printableLine(names.join(', '))})`,
  );
}

function readEntry(entry: unknown, what: string): IndexEntry {
  const parsed = entrySchema.safeParse(entry);
  if (parsed.success) return parsed.data;
  const { type } = entry as { type?: unknown };
  if (typeof type === 'string' && type !== 'skill-md' && type !== 'archive')
    throw badAnswer(what, `the skill is of the unknown type ${JSON.stringify(type.slice(0, 40))}`);
  throw badAnswer(what, 'the entry of the skill has no valid url with a sha256 digest, and no list of files');
}

/** A skill that an index offers. It comes from a server, and nothing of it has been verified. */
export interface IndexHit {
  readonly name: string;
  readonly description: string;
  readonly version?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly signer?: string | undefined;
  readonly attestations?: readonly string[] | undefined;
}

/**
 * The skills whose name or description has all of these words, those with more of them in the name first. Entries that are
 * not valid are left out. The texts can be printed.
 */
export function searchIndex(bytes: Buffer, words: readonly string[], what = 'the index'): IndexHit[] {
  const { skills } = readJsonAnswer(bytes, indexSchema, what);
  const valid = skills.flatMap((entry) => entrySchema.safeParse(entry).data ?? []);
  return matchWords(valid, words).map(hitOf);
}

/** Those whose name or description has all of these words; the more of them in the name, the earlier. */
export function matchWords<Entry extends { name: string; description: string }>(
  entries: readonly Entry[],
  words: readonly string[],
): Entry[] {
  const wanted = words.flatMap((word) => word.toLowerCase().split(/\s+/)).filter((word) => word !== '');
  const found = entries.flatMap((entry) => {
    const [name, description] = [entry.name.toLowerCase(), entry.description.toLowerCase()];
    const inName = wanted.filter((word) => name.includes(word)).length;
    return wanted.every((word) => name.includes(word) || description.includes(word))
      ? [{ entry, inName }]
      : [];
  });
  found.sort((a, b) => b.inName - a.inName || (a.entry.name < b.entry.name ? -1 : 1));
  return found.map(({ entry }) => entry);
}

function hitOf({ name, description, version, capabilities, signer, attestations }: IndexEntry): IndexHit {
  return {
    name,
    description: printableLine(description),
    ...(version === undefined ? {} : { version: printableLine(version) }),
    ...(capabilities === undefined ? {} : { capabilities: capabilities.map(printableLine) }),
    ...(signer === undefined ? {} : { signer: printableLine(signer) }),
    ...(attestations === undefined ? {} : { attestations: attestations.map(printableLine) }),
  };
}
