/**
 * What Unicode says about characters, read from the tables of `unicode.ts`.
 */
import { LETTERS, LOWER, MARKS } from './unicode.ts';

export function isApostrophe(point: number): boolean {
  return point === 0x27 || point === 0x2019;
}

export interface Facts {
  isLetter: boolean;
  isMark: boolean;
  lower: string;
}

/** Most characters of most texts. Made when the module is loaded, which is once for all calls. */
const COMMON_POINTS = 0x250;
/** The others of this text: what the tables say about one is kept. */
const known = new Map<number, Facts>();

export function factsOf(point: number): Facts {
  if (point < COMMON_POINTS) return COMMON[point] as Facts;
  const kept = known.get(point);
  if (kept) return kept;
  const facts = lookUp(point);
  known.set(point, facts);
  return facts;
}

function lookUp(point: number): Facts {
  return {
    isLetter: contains(LETTER_RANGES, point),
    isMark: contains(MARK_RANGES, point),
    lower: String.fromCodePoint(isApostrophe(point) ? 0x27 : toLower(point)),
  };
}

export function isLetter(point: number): boolean {
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
const COMMON: Facts[] = Array.from({ length: COMMON_POINTS }, (_, point) => lookUp(point));

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
