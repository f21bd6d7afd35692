/**
 * JSON from a guest: well-formed UTF-8, bounded depth, no key twice, no number that is silently changed.
 * JSON.parse alone accepts all of these, and whoever reads the text with another parser then sees another value.
 *
 * @module
 */

export const MAX_JSON_DEPTH = 128;
/** Why such a text is not parsed. */
export const TOO_DEEP: string = `nested deeper than ${MAX_JSON_DEPTH} levels`;

export interface GuestJson {
  value: unknown;
  warnings: string[];
}

/** Sixteen digits, or an exponent: what has neither is a number that JavaScript holds as it was written. */
const SUSPECT_NUMBER = /\d{16}|\d[eE]/;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `levels`: those of the frame around a value are not counted as the value's own. */
export function parseGuestJson(bytes: Uint8Array, levels = 0): GuestJson {
  const text = utf8.decode(bytes);
  // The scan comes first: a nesting bomb must not reach a recursive parser. Few texts have a number that needs a look.
  const warnings = new Scan(text, {
    numbers: SUSPECT_NUMBER.test(text),
    depth: MAX_JSON_DEPTH + levels,
  }).run();
  return { value: JSON.parse(text), warnings };
}

/** An object or a list that is open at some place of the text. */
interface Level {
  isList: boolean;
  /** Of an object; made with its first key, because a hostile text has millions of empty ones. */
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

  /** Remarks for people. Throws when the text is not to be parsed. */
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

  /** Returns where it ends. */
  #onString(start: number): number {
    const end = endOfString(this.#text, start);
    const level = this.#levels[this.#levels.length - 1];
    if (this.#expectsKey && level) noteKey(level, this.#text.slice(start, end + 1));
    this.#expectsKey = false;
    return end;
  }

  #onNumber(start: number): number {
    let end = start + 1;
    while (isNumberPart(this.#text.charCodeAt(end))) end++;
    const source = this.#text.slice(start, end);
    const value = Number(source);
    if (value === Infinity) throw new Error(`the number ${this.#withSign(start, source)} is out of range`);
    const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value) && /^\d+$/.test(source);
    if (isRounded && this.#warnings.length < 5) {
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
  throw new Error('a string without an end');
}

function noteKey(level: Level, raw: string): void {
  // Escapes can spell one key in two ways.
  const key = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
  level.keys ??= new Set();
  if (level.keys.has(key)) throw new Error(`the key "${key.slice(0, 60)}" stands twice in one object`);
  level.keys.add(key);
  level.at = key;
}
