/**
 * The encodings in which a text can appear: plain, URL-encoded in whole or in part, escaped in JSON, in base64 at any offset,
 * in hexadecimal. Searches run on bytes, with one character per byte.
 *
 * @module
 */

import { Needle } from './needle.ts';
import type { Views } from './views.ts';

/** A sequence of steps; each step lists the spellings of one character. */
export type Steps = readonly (readonly string[])[];

/** One encoding of a text to search for. */
export class Pattern {
  /** A constant-time check; false if there is no complete match. */
  readonly mayBeIn: (text: Views) => boolean;
  readonly #make: () => Steps;
  #steps: Steps | undefined;

  constructor({ make, mayBeIn }: Pick<Pattern, 'mayBeIn'> & { make: () => Steps }) {
    this.#make = make;
    this.mayBeIn = mayBeIn;
  }

  /** Built on first use, because most patterns never get past `mayBeIn`. */
  get steps(): Steps {
    this.#steps ??= this.#make();
    return this.#steps;
  }
}

/** All encodings of a text, for texts that must not appear anywhere. */
export function everySpelling(text: string): Pattern[] {
  return [textPattern(text), ...base64Patterns(text), hexPattern(text)];
}

/** Plain, URL-encoded (also in part, with digits in either case), or escaped in JSON. */
export function textPattern(text: string): Pattern {
  const needle = new Needle(Buffer.from(text).toString('latin1'));
  const behind = new Needle(Buffer.from(behindEscape(text)).toString('latin1'));
  // If a text with these characters is escaped in part, unescaping may not restore it.
  const isOdd = /[%\\]/.test(text);
  const hasSpace = text.includes(' ');
  const hasBoth = hasSpace && text.includes('+');
  return new Pattern({
    make: () => Array.from(text, characterSpellings),
    mayBeIn: (given) =>
      needle.isIn(given.text) ||
      (given.isEscaped && (isOdd || behind.isIn(given.unescaped))) ||
      // A form writes a space as a plus.
      (hasSpace && given.hasPlus && (hasBoth || behind.isIn(given.form))),
  });
}

/** Drops the characters that a preceding escape may take as its digits: `%0` before `0abc`. */
function behindEscape(text: string): string {
  const [digits = ''] = /^u?[\da-f]{0,4}/i.exec(text) ?? [];
  return Array.from(text).slice(Math.max(1, digits.length)).join('');
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
 * Base64 encodes three bytes as four characters, so a text has three forms depending on its offset. The characters at its
 * ends, which also encode neighbouring bytes, are not part of the pattern.
 */
function base64Patterns(text: string): Pattern[] {
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
  const needle = new Needle(encoded);
  const behind = new Needle(behindEscape(encoded));
  return new Pattern({
    make: () => Array.from(encoded, spellings),
    mayBeIn: (given) => needle.isIn(given.base64) || (given.isEscaped && behind.isIn(given.unescapedBase64)),
  });
}

/** The URL-safe alphabet, and the standard one inside URLs and JSON. */
const BASE64_SPELLINGS: Readonly<Record<string, string[]>> = {
  '+': ['+', '-', '%2B', '%2b', '\\u002B', '\\u002b'],
  '/': ['/', '_', '%2F', '%2f', '\\/'],
};

function hexPattern(text: string): Pattern {
  const bytes = Buffer.from(text);
  const needle = new Needle(bytes.toString('hex'));
  return new Pattern({
    make: () => [...bytes].map((byte) => eitherCase(hex(byte))),
    mayBeIn: (given) => needle.isIn(given.lower),
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

/** Digits in lower or upper case, or mixed within one pair; other mixtures do not occur in practice. */
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

/** Maximum length of a match. */
export function longestMatch({ steps }: Pattern): number {
  return steps.reduce((sum, spellings) => sum + Math.max(...spellings.map((text) => text.length)), 0);
}
