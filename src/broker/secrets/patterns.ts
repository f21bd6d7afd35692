/**
 * The shapes in which a text can travel: as it is, URL-encoded in whole or in part, escaped in JSON, in base64 wherever
 * it begins inside of it, in hexadecimal. Everything is looked for in bytes, written as one character per byte.
 *
 * @module
 */

import { Needle } from './needle.ts';
import type { Views } from './views.ts';

/** Each step is a choice of spellings of one character, and the steps follow each other. */
export type Steps = readonly (readonly string[])[];

/** One way to look for a text. */
export class Pattern {
  /** False unless all of it is there, found out in a time that does not depend on what is sought. */
  readonly mayBeIn: (text: Views) => boolean;
  readonly #make: () => Steps;
  #steps: Steps | undefined;

  constructor({ make, mayBeIn }: Pick<Pattern, 'mayBeIn'> & { make: () => Steps }) {
    this.#make = make;
    this.mayBeIn = mayBeIn;
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
  const needle = new Needle(Buffer.from(text).toString('latin1'));
  const behind = new Needle(Buffer.from(behindEscape(text)).toString('latin1'));
  // What has these signs of its own may be escaped in part in a way that undoing escapes does not give back.
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

/** Without the characters that an escape in front may take for its own digits: `%0` before `0abc`. */
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
  const needle = new Needle(encoded);
  const behind = new Needle(behindEscape(encoded));
  return new Pattern({
    make: () => Array.from(encoded, spellings),
    mayBeIn: (given) => needle.isIn(given.base64) || (given.isEscaped && behind.isIn(given.unescapedBase64)),
  });
}

/** The URL-safe alphabet, and the usual one inside of URLs and JSON. */
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

/** How many characters one finding can have at most. */
export function longest({ steps }: Pattern): number {
  return steps.reduce((sum, spellings) => sum + Math.max(...spellings.map((text) => text.length)), 0);
}
