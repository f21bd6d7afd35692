/**
 * Writes the Unicode tables of the skills `text/word_stats_*`, the same three strings for every language, from the
 * Unicode version of the Node that runs this. Run by hand: a newer Unicode changes what the skills count.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './steps.ts';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const LAST_CODE_POINT = 0x10ffff;
const LINE = 96;
/** Its lower case is two code points; Unicode's simple mapping has one. */
const DOTTED_I = 0x130;
/** They join the letters of a word in Persian and in Indic scripts, and are not marks by category. */
const JOINERS = '\u{200c}\u{200d}';

interface Run {
  start: number;
  last: number;
  count: number;
  step: number;
  delta: number;
}

const tables = {
  LETTERS: encodeRanges(/[\p{L}\p{Nd}]/u),
  MARKS: encodeRanges(new RegExp(`[\\p{M}${JOINERS}]`, 'u')),
  LOWER: encodeLower(),
};

/** How a long string is written in a language: before, between and after its lines. */
const LANGUAGES: readonly {
  file: string;
  constant: (name: string, lines: string[]) => string;
  head?: string;
  /** The start of a comment line. */
  comment?: string;
}[] = [
  {
    file: 'skills/text/word_stats_c/src/unicode.h',
    constant: (name, lines) => `static const char ${name}[] =\n${join4(lines, '')};\n`,
  },
  {
    file: 'skills/text/word_stats_rust/src/unicode.rs',
    constant: (name, lines) => `pub const ${name}: &str = concat!(\n${join4(lines, ',')}\n);\n`,
  },
  {
    file: 'examples/text/word_stats_go/src/unicode.go',
    head: 'package main\n\n',
    constant: (name, lines) =>
      `const ${name.toLowerCase()} = "" +\n${lines.map((line) => `\t"${line}"`).join(' +\n')}\n`,
  },
  {
    file: 'skills/text/word_stats_as/assembly/unicode.ts',
    constant: (name, lines) => `export const ${name}: string =\n${join4(lines, ' +')};\n`,
  },
  {
    file: 'examples/text/word_stats_ts/src/unicode.ts',
    constant: (name, lines) => `export const ${name}: string =\n${join4(lines, ' +')};\n`,
  },
  {
    file: 'skills/text/word_stats/unicode.ts',
    constant: (name, lines) => `export const ${name}: string =\n${join4(lines, ' +')};\n`,
  },
  {
    file: 'skills/text/word_stats_py/unicode_tables.py',
    comment: '#',
    constant: (name, lines) => `${name} = (\n${join4(lines, '')}\n)\n`,
  },
];

for (const { file, constant, head = '', comment = '//' } of LANGUAGES) {
  const note = `${comment} Unicode ${process.versions['unicode']}. Written by scripts/make-word-tables.ts; skill.* says how to read it.\n\n`;
  const constants = Object.entries(tables).map(([name, text]) => constant(name, linesOf(text)));
  writeFileSync(join(ROOT, file), note + head + constants.join('\n'));
}

function join4(lines: string[], separator: string): string {
  return lines.map((line) => `    "${line}"`).join(`${separator}\n`);
}

function linesOf(text: string): string[] {
  return text.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
}

function encodeRanges(member: RegExp): string {
  let text = '';
  let end = 0;
  for (let start = 0; start <= LAST_CODE_POINT; start += 1) {
    if (!isMember(member, start)) continue;
    let after = start + 1;
    while (isMember(member, after)) after += 1;
    text += encode(start - end) + encode(after - start);
    end = after;
    start = after;
  }
  return text;
}

function isMember(member: RegExp, point: number): boolean {
  return point <= LAST_CODE_POINT && !isSurrogate(point) && member.test(String.fromCodePoint(point));
}

function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point <= 0xdfff;
}

function encodeLower(): string {
  let text = '';
  let end = 0;
  for (const { start, last, count, step, delta } of lowerRuns()) {
    text +=
      encode(start - end) +
      encode(count * 2 + (step - 1)) +
      encode(Math.abs(delta) * 2 + (delta < 0 ? 1 : 0));
    end = last + 1;
  }
  return text;
}

/** Letters with the same distance to their lower case, consecutive or every second one. */
function lowerRuns(): Run[] {
  const runs: Run[] = [];
  for (let point = 0; point <= LAST_CODE_POINT; point += 1) {
    const delta = lowerOf(point) - point;
    if (delta === 0) continue;
    const run = runs.at(-1);
    const step = run === undefined ? 0 : point - run.last;
    if (run?.delta === delta && (run.count === 1 ? step <= 2 : step === run.step)) {
      Object.assign(run, { last: point, count: run.count + 1, step });
    } else {
      runs.push({ start: point, last: point, count: 1, step: 1, delta });
    }
  }
  return runs;
}

function lowerOf(point: number): number {
  if (isSurrogate(point)) return point;
  if (point === DOTTED_I) return 0x69;
  const lower = Array.from(String.fromCodePoint(point).toLowerCase());
  return lower.length === 1 ? (lower[0]?.codePointAt(0) ?? point) : point;
}

function encode(value: number): string {
  const rest = value >> 5;
  return DIGITS[(value & 31) | (rest > 0 ? 32 : 0)] + (rest > 0 ? encode(rest) : '');
}
