/**
 * The shapes in which a text can travel: as it is, URL-encoded in whole or in part, escaped in JSON, in base64 wherever
 * it begins inside of it, in hexadecimal. Everything is looked for in bytes, written as one character per byte.
 *
 * @module
 */

/** Each step is a choice of spellings of one character, and the steps follow each other. */
export type Steps = readonly (readonly string[])[];

/** One way to look for a text. */
export class Pattern {
  /** False for nearly every text, and quickly known: then nobody has to look closer. */
  readonly mayBeIn: (text: string) => boolean;
  /** Characters that a finding can begin with. */
  readonly beginnings: string;
  readonly #make: () => Steps;
  #steps: Steps | undefined;

  constructor({
    make,
    mayBeIn,
    beginnings,
  }: Pick<Pattern, 'mayBeIn' | 'beginnings'> & { make: () => Steps }) {
    this.#make = make;
    this.mayBeIn = mayBeIn;
    this.beginnings = beginnings;
  }

  /** Most texts are never looked at closely, so most patterns are never written out. */
  get steps(): Steps {
    this.#steps ??= this.#make();
    return this.#steps;
  }
}

/** Everything that a text can look like; for what must not be seen anywhere. */
export function everySpelling(text: string): Pattern[] {
  return [textPattern(text), ...base64Patterns(text), hexPattern(text)];
}

/** As it is, URL-encoded (also a part of its characters, in either case of the digits), or escaped in JSON. */
export function textPattern(text: string): Pattern {
  const bytes = Buffer.from(text).toString('latin1');
  // A form writes a space as a plus.
  const isRare = text.includes(' ') ? /[%\\+]/ : /[%\\]/;
  return new Pattern({
    make: () => Array.from(text, characterSpellings),
    mayBeIn: (given) => given.includes(bytes) || isRare.test(given),
    beginnings: `${bytes.charAt(0)}%\\${text.startsWith(' ') ? '+' : ''}`,
  });
}

function characterSpellings(character: string): string[] {
  const bytes = Buffer.from(character);
  const percent = [...bytes].map((byte) => `%${hex(byte)}`).join('');
  return unique([
    bytes.toString('latin1'),
    ...eitherCase(percent),
    ...(character === ' ' ? ['+'] : []),
    ...jsonEscapes(character),
  ]);
}

/**
 * Base64 joins three bytes to four characters, so there are three ways for the same text to look in the middle of
 * others. The characters at its ends, which it shares with its neighbours, are not part of the pattern.
 */
export function base64Patterns(text: string): Pattern[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return base64Pattern(encoded.slice(first, last));
  });
}

function base64Pattern(encoded: string): Pattern {
  const spellings = (character: string): string[] => BASE64_SPELLINGS[character] ?? [character];
  // Whatever the alphabet, these characters stand together as they are.
  const [sure = ''] = encoded.split(/[+/]/).toSorted((a, b) => b.length - a.length);
  return new Pattern({
    make: () => Array.from(encoded, spellings),
    mayBeIn: (given) => given.includes(sure),
    beginnings: spellings(encoded.charAt(0))
      .map((spelling) => spelling.charAt(0))
      .join(''),
  });
}

/** The URL-safe alphabet, and the usual one inside of URLs and JSON. */
const BASE64_SPELLINGS: Readonly<Record<string, string[]>> = {
  '+': ['+', '-', '%2B', '%2b', '\\u002B', '\\u002b'],
  '/': ['/', '_', '%2F', '%2f', '\\/'],
};

function hexPattern(text: string): Pattern {
  const bytes = Buffer.from(text);
  const digits = bytes.toString('hex');
  return new Pattern({
    make: () => [...bytes].map((byte) => eitherCase(hex(byte))),
    mayBeIn: (given) => given.toLowerCase().includes(digits),
    beginnings: digits.charAt(0) + digits.charAt(0).toUpperCase(),
  });
}

function jsonEscapes(character: string): string[] {
  const inJson = JSON.stringify(character).slice(1, -1);
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  const numbered = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  return [
    ...(inJson === character ? [] : [Buffer.from(inJson).toString('latin1')]),
    ...(character === '/' ? ['\\/'] : []),
    ...[numbered, numbered.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase())],
  ];
}

/** Digits in lower or upper case, or one of them in each: nobody writes more mixtures than these. */
function eitherCase(text: string): string[] {
  const lower = text.toLowerCase();
  const upper = text.toUpperCase();
  return unique([lower, upper, ...(text.length <= 3 ? mixedCase(lower) : [])]);
}

function mixedCase(text: string): string[] {
  const [start, before, last] = [text.slice(0, -2), text.slice(-2, -1), text.slice(-1)];
  return [start + before.toUpperCase() + last, start + before + last.toUpperCase()];
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}

/** One expression that finds any of the patterns, each with a group of its number. */
export function expressionFor(patterns: readonly Pattern[]): RegExp {
  const sources = patterns.map(({ steps }) => steps.map(choiceOf).join(''));
  // No flag `u`: every character is a byte.
  return new RegExp(sources.map((source) => `(${source})`).join('|'), 'g');
}

/** The longest first: the sign `%` is also the beginning of its own `%25`. */
function choiceOf(spellings: readonly string[]): string {
  const byLength = spellings.toSorted((a, b) => b.length - a.length);
  const escaped = byLength.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
  return escaped.length === 1 ? (escaped[0] ?? '') : `(?:${escaped.join('|')})`;
}

/** How many characters one finding can have at most. */
export function longest({ steps }: Pattern): number {
  return steps.reduce((sum, spellings) => sum + Math.max(...spellings.map((text) => text.length)), 0);
}

/** Could the text from here to its end be the beginning of a finding that has not come whole yet? */
export function mayBegin({ steps }: Pattern, text: string, from: number): boolean {
  let reached = new Set([from]);
  for (const spellings of steps) {
    const next = new Set<number>();
    for (const at of reached) {
      for (const spelling of spellings) {
        if (text.startsWith(spelling, at)) next.add(at + spelling.length);
        else if (at + spelling.length > text.length && spelling.startsWith(text.slice(at))) return true;
      }
    }
    // What ends with the text, with steps left to take, waits for more.
    if (next.size === 0) return false;
    reached = next;
  }
  return false;
}
