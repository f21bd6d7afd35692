/**
 * Decoded forms of a text: plain, unescaped, in one base64 alphabet. Computed once for all searches, independent of what is
 * searched for.
 *
 * @module
 */

const ESCAPES = /%[0-9a-f]{2}|(?:\\u[0-9a-f]{4})+|\\["\\/bfnrt]/gi;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** One character per byte. */
export class Views {
  readonly text: string;
  #unescaped: string | undefined;
  #lower: string | undefined;
  #base64: string | undefined;
  #unescapedBase64: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Whether unescaping may change the text. */
  get isEscaped(): boolean {
    return this.text.includes('%') || this.text.includes('\\');
  }

  /** With URL encoding and JSON escapes decoded. */
  get unescaped(): string {
    this.#unescaped ??= this.isEscaped ? unescape(this.text) : this.text;
    return this.#unescaped;
  }

  get hasPlus(): boolean {
    return this.text.includes('+');
  }

  /** Decoded as a form: a plus is a space. */
  get form(): string {
    return unescape(this.text.replaceAll('+', ' '));
  }

  get lower(): string {
    this.#lower ??= this.text.toLowerCase();
    return this.#lower;
  }

  /** In the standard alphabet, whichever it was written in. */
  get base64(): string {
    this.#base64 ??= standardAlphabet(this.text);
    return this.#base64;
  }

  get unescapedBase64(): string {
    this.#unescapedBase64 ??= standardAlphabet(this.unescaped);
    return this.#unescapedBase64;
  }
}

function standardAlphabet(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/');
}

function unescape(text: string): string {
  return text.replaceAll(ESCAPES, (escape) => {
    if (escape.startsWith('%')) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    if (/^\\u[0-9a-f]/i.test(escape)) return bytesOfUnits(escape);
    const letter = escape.slice(1);
    return SHORT_ESCAPES[letter.toLowerCase()] ?? letter;
  });
}

/** Decodes adjacent units together, because a character beyond the first 65,536 is written as two. */
function bytesOfUnits(units: string): string {
  const text = units.replaceAll(/\\u(.{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.from(text).toString('latin1');
}
