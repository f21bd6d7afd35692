/**
 * Counts of a text: the AssemblyScript twin of `text/word_stats_*`. All five give the same bytes, so this one takes
 * nothing from the Unicode tables of its library and everything from `unicode.ts`.
 */
import { integerOf, leak, parameters, stringOf } from './skillcell';
import { LETTERS, LOWER, MARKS } from './unicode';

export { cabi_realloc } from './skillcell';

const DEFAULT_TOP: i32 = 10;
const REPLACEMENT: i32 = 0xfffd;
const LF: i32 = 0x0a;
const CR: i32 = 0x0d;
/** Marks the end of the text: no code point. */
const END: i32 = -1;

/** The door: `execute: func(params: string) -> result<string, string>`. */
export function execute(at: usize, length: usize): usize {
  const params = parameters(at, length);
  const text = stringOf(params, 'text');
  if (text === null) return leak(true, 'The parameter "text" is missing');
  return leak(false, describe(count(toCodePoints(text)), integerOf(params, 'top', DEFAULT_TOP)));
}

class Counts {
  characters: i32 = 0;
  words: i32 = 0;
  sentences: i32 = 0;
  lines: i32 = 0;
  byWord: Map<string, i32> = new Map();
}

class Word {
  constructor(
    public text: string,
    public count: i32,
  ) {}
}

function count(text: StaticArray<i32>): Counts {
  const counts = new Counts();
  counts.characters = text.length;
  let openSentence = false;
  for (let at = 0; at < text.length; ) {
    const point = text[at];
    if (isLetter(point)) {
      const end = endOfWord(text, at);
      const word = fold(text, at, end);
      counts.words++;
      counts.byWord.set(word, counts.byWord.has(word) ? counts.byWord.get(word) + 1 : 1);
      openSentence = true;
      at = end;
      continue;
    }
    const next = at + 1 < text.length ? text[at + 1] : END;
    if (openSentence && endsSentence(point, next)) {
      counts.sentences++;
      openSentence = false;
    }
    if (point == LF || (point == CR && next != LF)) counts.lines++;
    at++;
  }
  const last = text.length > 0 ? text[text.length - 1] : LF;
  if (last != LF && last != CR) counts.lines++;
  if (openSentence) counts.sentences++;
  return counts;
}

/** Letters and digits, the marks on them, and apostrophes between two of them. */
function endOfWord(text: StaticArray<i32>, start: i32): i32 {
  let end = start + 1;
  for (; end < text.length; end++) {
    const point = text[end];
    if (isLetter(point) || isMark(point)) continue;
    if (!isApostrophe(point) || end + 1 >= text.length || !isLetter(text[end + 1])) break;
  }
  return end;
}

/** A full stop inside of a number or a name ends nothing: `3.14`, `example.com`. */
function endsSentence(point: i32, next: i32): bool {
  switch (point) {
    case 0x21: // !
    case 0x2e: // .
    case 0x3f: // ?
    case 0x61f: // Arabic question mark
    case 0x964: // danda
    case 0x2026: // ellipsis
      return next == END || !isLetter(next);
    case 0x3002: // ideographic full stop
    case 0xff01: // fullwidth !
    case 0xff1f: // fullwidth ?
      return true;
    default:
      return false;
  }
}

function describe(counts: Counts, top: i32): string {
  const names = counts.byWord.keys();
  const ranked: Word[] = [];
  for (let at = 0; at < names.length; at++) ranked.push(new Word(names[at], counts.byWord.get(names[at])));
  ranked.sort((a, b) => (a.count != b.count ? b.count - a.count : compareCodePoints(a.text, b.text)));
  const words: string[] = [];
  for (let at = 0; at < ranked.length && at < top; at++) {
    words.push('{"word":"' + ranked[at].text + '","count":' + ranked[at].count.toString() + '}');
  }
  const parts: string[] = [
    '{"characters":' + counts.characters.toString(),
    '"words":' + counts.words.toString(),
    '"unique_words":' + ranked.length.toString(),
    '"sentences":' + counts.sentences.toString(),
    '"lines":' + counts.lines.toString(),
    '"top_words":[' + words.join(',') + ']',
    '"reading_time_seconds":' + ((counts.words * 3 + 9) / 10).toString() + '}',
  ];
  return parts.join(',');
}

/** Half of a surrogate pair alone is no character: it counts as U+FFFD, as in the languages that have no such halves. */
function toCodePoints(text: string): StaticArray<i32> {
  const points = new StaticArray<i32>(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at);
    if (point > 0xffff) at++;
    points[count++] = point >= 0xd800 && point <= 0xdfff ? REPLACEMENT : point;
  }
  return StaticArray.slice<i32>(points, 0, count);
}

function fold(text: StaticArray<i32>, start: i32, end: i32): string {
  const units = new StaticArray<u16>(2 * (end - start));
  let count = 0;
  for (let at = start; at < end; at++) {
    const point = isApostrophe(text[at]) ? 0x27 : toLower(text[at]);
    if (point > 0xffff) units[count++] = (0xd7c0 + (point >> 10)) as u16;
    units[count++] = (point > 0xffff ? 0xdc00 | (point & 0x3ff) : point) as u16;
  }
  return String.UTF16.decodeUnsafe(changetype<usize>(units), (count as usize) << 1);
}

/** As UTF-16 compares, but a surrogate stands for a code point beyond all others. */
function compareCodePoints(a: string, b: string): i32 {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left == right) continue;
    const leftIsPair = left >= 0xd800 && left <= 0xdfff;
    const rightIsPair = right >= 0xd800 && right <= 0xdfff;
    return leftIsPair == rightIsPair ? left - right : leftIsPair ? 1 : -1;
  }
  return a.length - b.length;
}

function isApostrophe(point: i32): bool {
  return point == 0x27 || point == 0x2019;
}

function isLetter(point: i32): bool {
  if (point < 0x80) {
    const lower = point | 0x20;
    return (point >= 0x30 && point <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
  }
  return runOf(tables().letters, point) >= 0;
}

function isMark(point: i32): bool {
  return point >= 0x300 && runOf(tables().marks, point) >= 0;
}

function toLower(point: i32): i32 {
  if (point < 0x80) return point >= 0x41 && point <= 0x5a ? point + 0x20 : point;
  const runs = tables().lower;
  const at = runOf(runs, point);
  return at < 0 ? point : point + runs[at].delta;
}

// --- the tables: numbers in digits of 5 bits, lowest first, the sixth bit says that more follow ------------

/** Code points from `start` to `last`: every one (`step` 1) or every second; `delta` leads to the lower case. */
class Run {
  constructor(
    public start: i32,
    public last: i32,
    public step: i32,
    public delta: i32,
  ) {}
}

class Tables {
  letters: Run[] = readRanges(LETTERS);
  marks: Run[] = readRanges(MARKS);
  lower: Run[] = readLowerRuns(LOWER);
}

let read: Tables | null = null;

/** English text needs no table: they are read when the first other letter comes. */
function tables(): Tables {
  let found = read;
  if (found === null) read = found = new Tables();
  return found;
}

/** Index of the run that a code point is in, or -1. */
function runOf(runs: Run[], point: i32): i32 {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle].start <= point) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return -1;
  const run = runs[low - 1];
  return point <= run.last && (point - run.start) % run.step == 0 ? low - 1 : -1;
}

/** Pairs: gap since the end of the range before, length. */
function readRanges(table: string): Run[] {
  const numbers = readNumbers(table);
  const ranges: Run[] = [];
  for (let at = 0, end = 0; at < numbers.length; at += 2) {
    const start = end + numbers[at];
    end = start + numbers[at + 1];
    ranges.push(new Run(start, end - 1, 1, 0));
  }
  return ranges;
}

/** Triples: gap, twice the count and one more for every second, twice the distance and one more for downwards. */
function readLowerRuns(table: string): Run[] {
  const numbers = readNumbers(table);
  const runs: Run[] = [];
  for (let at = 0, end = 0; at < numbers.length; at += 3) {
    const shape = numbers[at + 1];
    const distance = numbers[at + 2];
    const start = end + numbers[at];
    const step = 1 + (shape & 1);
    const last = start + ((shape >> 1) - 1) * step;
    runs.push(new Run(start, last, step, distance & 1 ? -(distance >> 1) : distance >> 1));
    end = last + 1;
  }
  return runs;
}

function readNumbers(table: string): i32[] {
  const numbers: i32[] = [];
  let value = 0;
  let shift = 0;
  for (let at = 0; at < table.length; at++) {
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
function digitOf(code: i32): i32 {
  if (code == 0x2d) return 62;
  if (code == 0x5f) return 63;
  if (code <= 0x39) return code - 0x30 + 52;
  return code <= 0x5a ? code - 0x41 : code - 0x61 + 26;
}
