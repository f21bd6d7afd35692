/**
 * `skillcell search`
 *
 * @module
 */
import {
  type Attested,
  HttpClient,
  type Runtime,
  type SearchHit,
  type SearchResult,
  SkillError,
  describeSigner,
  printableLine,
  searchCatalogs,
} from '../../inside.ts';
import { catalogsOf, readConfig, userFile } from '../config.ts';
import { interruption } from '../interruption.ts';
import { LiveTransfer } from '../live-transfer.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult } from '../output.ts';

export interface SearchFlags {
  /** Catalogs to search instead of the configured ones. */
  in?: string[];
  policy?: string;
  json?: boolean;
}

/** Lists skills, the best first. Exits with 1 if a catalog does not answer. */
export async function search(words: readonly string[], flags: SearchFlags = {}): Promise<number> {
  const catalogs = flags.in ?? catalogsOf(readConfig());
  if (catalogs.length === 0)
    throw new SkillError('usage', 'There is nothing to search: no catalog is configured', {
      fix: `Name one with --in oci://HOST/NAME, or write "catalogs: [oci://HOST/NAME]" to ${userFile()}.`,
    });
  await using runtime = openRuntime(flags);
  using live = new LiveTransfer();
  using http = new HttpClient();
  const watch = { onProgress: live.onProgress, signal: interruption() };
  const { publishers } = runtime.sources;
  const results = await searchCatalogs(catalogs, words, { http, publishers, watch });
  live.clear();
  if (flags.json) printResult(answerOf(results, runtime));
  else printResults(results, runtime);
  return results.every(({ error }) => error === undefined) ? 0 : 1;
}

function answerOf(results: readonly SearchResult[], runtime: Runtime): object {
  const failed = results.flatMap(({ catalog, error }) =>
    error ? [{ catalog, code: error.code, message: error.message }] : [],
  );
  const skills = results.flatMap(({ catalog, hits }) =>
    hits.map((hit) =>
      Object.assign({}, hit, { proof: withoutPredicates(hit), catalog, refused: refusalOf(hit, runtime) }),
    ),
  );
  return { ok: failed.length === 0, skills, ...(failed.length > 0 ? { errors: failed } : {}) };
}

/** A document may be large, and `verify` shows what it says. */
function withoutPredicates({ proof }: SearchHit): object | undefined {
  const attested = proof?.attested.map(({ kind, type, publisher }) => ({ kind, type, publisher }));
  return proof && { ...proof, attested };
}

function printResults(results: readonly SearchResult[], runtime: Runtime): void {
  for (const { catalog, error } of results)
    if (error) printNote(printableLine(`${catalog}: ${error.message}`));
  for (const { catalog, hits, total } of results) {
    for (const hit of hits) for (const line of describe(hit, runtime)) printLine(printableLine(line));
    if (total > hits.length)
      printNote(printableLine(`${catalog}: ${total - hits.length} more; use more words to see them.`));
  }
  const isEmpty = results.every(({ total, error }) => total === 0 && error === undefined);
  if (isEmpty) printNote('No skill has all of these words in its name or description.');
}

function describe(hit: SearchHit, runtime: Runtime): string[] {
  const { name, version, description, reference, unproven } = hit;
  const refused = refusalOf(hit, runtime);
  const facts: [label: string, text: string][] = [
    ['about', description],
    ['add', reference],
    ...factsOf(hit),
    ...(unproven === undefined ? [] : ([['unproven', unproven]] as [string, string][])),
    ...(refused === undefined ? [] : ([['policy', refused]] as [string, string][])),
  ];
  const lines = facts.map(([label, text]) => `  ${label.padEnd(9)} ${text}`);
  return [`${name} ${version ?? ''}`.trimEnd(), ...lines];
}

/** What is proven by its lock and its signatures; otherwise what a list says. */
function factsOf({ proof, claims }: SearchHit): [label: string, text: string][] {
  if (proof) {
    const { capabilities, signer, publisher, attested } = proof;
    const who = signer === 'unsigned' || publisher !== undefined ? '' : ', whom no policy here knows';
    const by = publisher === undefined ? describeSigner(signer) : `${publisher}: ${describeSigner(signer)}`;
    return [
      ['asks for', capabilities.filter(isWish).join(', ') || 'nothing'],
      ['signed by', `${by}${who}`],
      ['attested', [...new Set(attested.map(describeAttested))].join('; ') || 'nothing'],
    ];
  }
  if (!claims) return [];
  const { capabilities, signer, attestations } = claims;
  const say = (texts: readonly string[] | undefined): string => texts?.join(', ') ?? 'the index does not say';
  return [
    ['asks for', say(capabilities)],
    ['signed by', say(signer === undefined ? undefined : [signer])],
    ['attested', say(attestations)],
  ];
}

/** Every skill has limits; they are no reason to choose one. */
function isWish(capability: string): boolean {
  return !capability.startsWith('limit ');
}

function describeAttested({ kind, type, publisher }: Attested): string {
  const what = kind ?? type;
  return publisher === undefined ? `${what}: only a claim` : `${what}: signed by ${publisher}`;
}

/** Why the policy would not let it be added. */
function refusalOf({ reference }: SearchHit, { sources }: Runtime): string | undefined {
  try {
    sources.demands(reference.replace(/(?::[^:/@]*)?@sha256:[0-9a-f]{64}$/, ''));
    return undefined;
  } catch (error) {
    if (error instanceof SkillError) return `refused: ${error.message}`;
    throw error;
  }
}
