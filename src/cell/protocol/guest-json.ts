/**
 * JSON from a guest: well-formed UTF-8, bounded depth, no duplicate keys, no numbers that change silently.
 * JSON.parse accepts all of these, and another parser may then read a different value from the same text.
 *
 * @module
 */

import { changeOf, SUSPECT_NUMBER } from '../../json-text.ts';

export const MAX_JSON_DEPTH = 128;
/** Error message for text that is nested too deeply. */
export const TOO_DEEP: string = `nested deeper than ${MAX_JSON_DEPTH} levels`;

export interface GuestJson {
  value: unknown;
  warnings: string[];
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `levels` is the depth of the frame around the value, which does not count towards the limit. */
export function parseGuestJson(bytes: Uint8Array, levels = 0): GuestJson {
  const text = utf8.decode(bytes);
  // Scans first, because a nesting bomb must not reach a recursive parser. Few texts have numbers that need a check.
  const warnings = new Scan(text, {
    numbers: SUSPECT_NUMBER.test(text),
    depth: MAX_JSON_DEPTH + levels,
  }).run();
  return { value: JSON.parse(text), warnings };
}

/** An object or a list that is open at the current position. */
interface Level {
  isList: boolean;
  /** Keys of an object; created with the first key, because a hostile text may have millions of empty objects. */
  keys: Set<string> | undefined;
  /** The key or the index that comes next. */
  at: string | number;
}

/** One pass over the text: depth, repeated keys, numbers. Syntax errors are left to JSON.parse. */
class Scan {
  readonly #text: string;
  readonly #looksAtNumbers: boolean;
  readonly #depth: number;
  readonly #levels: Level[] = [];
  readonly #warnings: string[] = [];
  #expectsKey = false;

  constructor(text: string, { numbers, depth }: { numbers: boolean; depth: number }) {
    this.#text = text;
    this.#looksAtNumbers = numbers;
    this.#depth = depth;
  }

  /** Returns warnings. Throws if the text must not be parsed. */
  run(): string[] {
    const text = this.#text;
    for (let at = 0; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === 0x22) at = this.#onString(at);
      else if (char === 0x7b || char === 0x5b) this.#open(char === 0x5b);
      else if (char === 0x7d || char === 0x5d) this.#close();
      else if (char === 0x2c) this.#onComma();
      else if (this.#looksAtNumbers && isDigit(char)) at = this.#onNumber(at);
    }
    return this.#warnings;
  }

  #open(isList: boolean): void {
    this.#levels.push({ isList, keys: undefined, at: isList ? 0 : '' });
    this.#expectsKey = !isList;
    if (this.#levels.length > this.#depth) throw new Error(TOO_DEEP);
  }

  #close(): void {
    this.#levels.pop();
    this.#expectsKey = false;
  }

  #onComma(): void {
    const level = this.#levels[this.#levels.length - 1];
    if (level?.isList) level.at = Number(level.at) + 1;
    else this.#expectsKey = level !== undefined;
  }

  /** Returns the position of its end. */
  #onString(start: number): number {
    const end = endOfString(this.#text, start);
    const level = this.#levels[this.#levels.length - 1];
    if (this.#expectsKey && level) recordKey(level, this.#text.slice(start, end + 1));
    this.#expectsKey = false;
    return end;
  }

  #onNumber(start: number): number {
    let end = start + 1;
    while (isNumberPart(this.#text.charCodeAt(end))) end++;
    const source = this.#text.slice(start, end);
    const change = changeOf(source);
    if (change === 'range') throw new Error(`the number ${this.#withSign(start, source)} is out of range`);
    if (change === 'digits' && this.#warnings.length < 5) {
      const key = this.#levels[this.#levels.length - 1]?.at ?? '';
      this.#warnings.push(
        `The integer at "${key}" is beyond 2^53 and was rounded; return it as a string to keep every digit.`,
      );
    }
    return end - 1;
  }

  #withSign(start: number, source: string): string {
    return `${this.#text[start - 1] === '-' ? '-' : ''}${source}`.slice(0, 40);
  }
}

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39;
}

/** A digit, a point, a sign or the letter of an exponent. */
function isNumberPart(char: number): boolean {
  return isDigit(char) || char === 0x2e || char === 0x2b || char === 0x2d || (char | 0x20) === 0x65;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at++;
    else if (char === 0x22) return at;
  }
  throw new Error('an unterminated string');
}

function recordKey(level: Level, raw: string): void {
  // Escapes allow several spellings of one key.
  const key = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
  level.keys ??= new Set();
  if (level.keys.has(key)) throw new Error(`the key "${key.slice(0, 60)}" occurs twice in one object`);
  level.keys.add(key);
  level.at = key;
}
