/**
 * Counts of a text, as plain TypeScript: nothing is built, this file is what runs. Its twins `text/word_stats_*` give the
 * same bytes, so it takes nothing from the Unicode tables of its engine and everything from `letters.ts`.
 */
import { factsOf, isApostrophe, isLetter } from './letters.ts';

interface Params {
  text: string;
  top?: number;
}

const DEFAULT_TOP = 10;
const REPLACEMENT = 0xfffd;
const LF = 0x0a;
const CR = 0x0d;
/** Marks the end of the text: no code point. */
const END = -1;

interface WordStats {
  characters: number;
  words: number;
  unique_words: number;
  sentences: number;
  lines: number;
  top_words: { word: string; count: number }[];
  reading_time_seconds: number;
}

/** What a skill is: one function. What it returns is the result; a thrown error becomes the error of the call. */
export function execute({ text, top = DEFAULT_TOP }: Params): WordStats {
  return describe(count(toCodePoints(text)), top);
}

interface Counts {
  characters: number;
  words: number;
  sentences: number;
  lines: number;
  byWord: Map<string, number>;
}

function count(text: number[]): Counts {
  const counts: Counts = { characters: text.length, words: 0, sentences: 0, lines: 0, byWord: new Map() };
  let openSentence = false;
  for (let at = 0; at < text.length; ) {
    const point = text[at] as number;
    if (isLetter(point)) {
      const end = endOfWord(text, at);
      const word = fold(text, at, end);
      counts.words += 1;
      counts.byWord.set(word, (counts.byWord.get(word) ?? 0) + 1);
      openSentence = true;
      at = end;
      continue;
    }
    const next = at + 1 < text.length ? (text[at + 1] as number) : END;
    if (openSentence && endsSentence(point, next)) {
      counts.sentences += 1;
      openSentence = false;
    }
    if (point === LF || (point === CR && next !== LF)) counts.lines += 1;
    at += 1;
  }
  const last = text.length > 0 ? text[text.length - 1] : LF;
  if (last !== LF && last !== CR) counts.lines += 1;
  if (openSentence) counts.sentences += 1;
  return counts;
}

/** Letters and digits, the marks on them, and apostrophes between two of them. */
function endOfWord(text: number[], start: number): number {
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const point = text[end] as number;
    const { isLetter: letter, isMark } = factsOf(point);
    if (letter || isMark) continue;
    if (!isApostrophe(point) || end + 1 >= text.length || !isLetter(text[end + 1] as number)) break;
  }
  return end;
}

/** A full stop inside of a number or a name ends nothing: `3.14`, `example.com`. */
function endsSentence(point: number, next: number): boolean {
  switch (point) {
    case 0x21: // !
    case 0x2e: // .
    case 0x3f: // ?
    case 0x61f: // Arabic question mark
    case 0x964: // danda
    case 0x2026: // ellipsis
      return next === END || !isLetter(next);
    case 0x3002: // ideographic full stop
    case 0xff01: // fullwidth !
    case 0xff1f: // fullwidth ?
      return true;
    default:
      return false;
  }
}

function describe(counts: Counts, top: number): WordStats {
  const ranked = [...counts.byWord].sort((a, b) => b[1] - a[1] || compareCodePoints(a[0], b[0]));
  return {
    characters: counts.characters,
    words: counts.words,
    unique_words: counts.byWord.size,
    sentences: counts.sentences,
    lines: counts.lines,
    top_words: ranked.slice(0, top).map(([word, count]) => ({ word, count })),
    reading_time_seconds: Math.floor((counts.words * 3 + 9) / 10),
  };
}

/** Half of a surrogate pair alone is no character: it counts as U+FFFD, as in the languages that have no such halves. */
function toCodePoints(text: string): number[] {
  const points: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    points.push(point >= 0xd800 && point <= 0xdfff ? REPLACEMENT : point);
  }
  return points;
}

function fold(text: number[], start: number, end: number): string {
  let word = '';
  for (let at = start; at < end; at += 1) word += factsOf(text[at] as number).lower;
  return word;
}

/** Behind equal code points both are at the same place, so half of a pair is only ever compared with itself. */
function compareCodePoints(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    const difference = (a.codePointAt(at) as number) - (b.codePointAt(at) as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
