/**
 * Ranks skills by how well they match a query. Needs no index or model: a registry has hundreds of skills, not millions.
 *
 * @module
 */

export interface Searchable {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
}

const NAME_WEIGHT = 3;
/** Scores: the query word equals a word, is its prefix, or is contained in it. */
const WHOLE = 4;
const BEGINNING = 2;
const WITHIN = 1;
/** Shorter words occur in nearly everything. */
const MIN_WITHIN = 3;

/** Items that match at least one word, best first; ties keep their order. */
export function rank<T extends Searchable>(items: readonly T[], query: string): T[] {
  const words = wordsOf(query);
  const scored = items.map((item) => ({ item, score: scoreOf(item, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}

function scoreOf({ name, title = '', description = '' }: Searchable, words: readonly string[]): number {
  const inName = wordsOf(`${name} ${title}`);
  const inText = wordsOf(description);
  const scores = words.map((word) =>
    Math.max(NAME_WEIGHT * bestMatch(word, inName), bestMatch(word, inText)),
  );
  return scores.reduce((sum, score) => sum + score, 0);
}

function bestMatch(word: string, candidates: readonly string[]): number {
  let best = 0;
  for (const candidate of candidates) best = Math.max(best, match(word, candidate));
  return best;
}

function match(word: string, candidate: string): number {
  if (candidate === word) return WHOLE;
  if (candidate.startsWith(word)) return BEGINNING;
  return word.length >= MIN_WITHIN && candidate.includes(word) ? WITHIN : 0;
}

/** Letters and digits of any script, in lower case; `_`, `-` and `/` separate words. */
function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))];
}
