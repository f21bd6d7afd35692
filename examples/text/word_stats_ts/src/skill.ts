/**
 * Counts of a text: the TypeScript twin of `text/word_stats_*`. All five give the same bytes, so this one takes
 * nothing from the Unicode tables of its engine and everything from `unicode.ts`.
 */
import { LETTERS, LOWER, MARKS } from './unicode.ts';

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

/** What a skill is: one function from JSON to JSON. A thrown error becomes the error of the call. */
export function execute(params: string): string {
  const { text, top = DEFAULT_TOP } = JSON.parse(params) as Params;
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
      const word = fold(text.slice(at, end));
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

function describe(counts: Counts, top: number): string {
  const ranked = [...counts.byWord].sort((a, b) => b[1] - a[1] || compareCodePoints(a[0], b[0]));
  const words = ranked.slice(0, top).map(([word, count]) => `{"word":"${word}","count":${count}}`);
  const seconds = Math.floor((counts.words * 3 + 9) / 10);
  return (
    `{"characters":${counts.characters},"words":${counts.words},"unique_words":${counts.byWord.size},` +
    `"sentences":${counts.sentences},"lines":${counts.lines},"top_words":[${words.join(',')}],` +
    `"reading_time_seconds":${seconds}}`
  );
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

function fold(word: number[]): string {
  return word.map((point) => factsOf(point).lower).join('');
}

/** Behind equal code points both are at the same place, so half of a pair is only ever compared with itself. */
function compareCodePoints(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    const difference = (a.codePointAt(at) as number) - (b.codePointAt(at) as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function isApostrophe(point: number): boolean {
  return point === 0x27 || point === 0x2019;
}

interface Facts {
  isLetter: boolean;
  isMark: boolean;
  lower: string;
}

/** A text has few different characters: what the tables say about one is kept. */
const known = new Map<number, Facts>();

function factsOf(point: number): Facts {
  const kept = known.get(point);
  if (kept) return kept;
  const facts = {
    isLetter: contains(LETTER_RANGES, point),
    isMark: contains(MARK_RANGES, point),
    lower: String.fromCodePoint(isApostrophe(point) ? 0x27 : toLower(point)),
  };
  known.set(point, facts);
  return facts;
}

function isLetter(point: number): boolean {
  return factsOf(point).isLetter;
}

function toLower(point: number): number {
  const run = LOWER_RUNS[lastStartingAtOrBefore(LOWER_RUNS, point)];
  if (run === undefined || point > run.last || (point - run.start) % run.step !== 0) return point;
  return point + run.delta;
}

// --- the tables: numbers in digits of 5 bits, lowest first, the sixth bit says that more follow ------------

interface Range {
  start: number;
  last: number;
}

interface LowerRun extends Range {
  step: number;
  delta: number;
}

const LETTER_RANGES = readRanges(LETTERS);
const MARK_RANGES = readRanges(MARKS);
const LOWER_RUNS = readLowerRuns(LOWER);

function contains(ranges: Range[], point: number): boolean {
  const range = ranges[lastStartingAtOrBefore(ranges, point)];
  return range !== undefined && point <= range.last;
}

function lastStartingAtOrBefore(ranges: Range[], point: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle] as Range).start <= point) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Pairs: gap since the end of the range before, length. */
function readRanges(table: string): Range[] {
  const numbers = readNumbers(table);
  const ranges: Range[] = [];
  for (let at = 0, end = 0; at < numbers.length; at += 2) {
    const start = end + (numbers[at] as number);
    end = start + (numbers[at + 1] as number);
    ranges.push({ start, last: end - 1 });
  }
  return ranges;
}

/** Triples: gap, twice the count and one more for every second, twice the distance and one more for downwards. */
function readLowerRuns(table: string): LowerRun[] {
  const numbers = readNumbers(table);
  const runs: LowerRun[] = [];
  for (let at = 0, end = 0; at < numbers.length; at += 3) {
    const [gap, shape, distance] = numbers.slice(at, at + 3) as [number, number, number];
    const step = 1 + (shape & 1);
    const last = end + gap + ((shape >> 1) - 1) * step;
    runs.push({ start: end + gap, last, step, delta: distance & 1 ? -(distance >> 1) : distance >> 1 });
    end = last + 1;
  }
  return runs;
}

function readNumbers(table: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (let at = 0; at < table.length; at += 1) {
    const digit = digitOf(table.charCodeAt(at));
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit >= 32) continue;
    numbers.push(value);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** A-Z, a-z, 0-9, minus, underscore. */
function digitOf(code: number): number {
  if (code === 0x2d) return 62;
  if (code === 0x5f) return 63;
  if (code <= 0x39) return code - 0x30 + 52;
  return code <= 0x5a ? code - 0x41 : code - 0x61 + 26;
}
