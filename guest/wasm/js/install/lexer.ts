/**
 * Tokens of JavaScript and TypeScript source: enough to tell code from strings and comments, not to understand it.
 * Whether a slash starts a regular expression or divides is guessed from the token before it.
 *
 * @module
 */

export interface Token {
  kind: 'name' | 'text' | 'template' | 'number' | 'regexp' | 'mark';
  /** For a string its content; for a template the text before the first `${`, and whether there is one. */
  value: string;
  isCut?: boolean;
  line: number;
}

const NAME = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /(?:0[xob][\da-f_]+|\d[\d_]*\.?[\d_]*(?:e[+-]?\d+)?|\.\d[\d_]*(?:e[+-]?\d+)?)n?/iy;
const BLANK = /[\s\ufeff]+|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|^#![^\n]*/y;
const REGEXP = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/iy;
const TEXT = /'(?:[^'\\\n]|\\[^])*'?|"(?:[^"\\\n]|\\[^])*"?/y;
/** After these words a slash starts a regular expression. */
const BEFORE_REGEXP: ReadonlySet<string> = new Set(
  'return typeof case in of do else void delete throw new instanceof yield await'.split(' '),
);
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
};
const ESCAPE = /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2})|(\r\n|[^]))/gi;
const MAX_CODE_POINT = 0x10ffff;

export function* tokens(source: string): Generator<Token> {
  const lexer = new Lexer(source);
  for (let token = lexer.next(); token; token = lexer.next()) yield token;
}

class Lexer {
  readonly #source: string;
  #at = 0;
  #line = 1;
  #counted = 0;
  #last: Token | undefined;
  /** Open braces; true for those that return to a template. */
  readonly #braces: boolean[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  next(): Token | undefined {
    while (this.#match(BLANK) !== undefined);
    if (this.#at >= this.#source.length) return undefined;
    this.#last = this.#read();
    return this.#last;
  }

  #read(): Token {
    const line = this.#lineHere();
    const name = this.#match(NAME);
    if (name !== undefined) return { kind: 'name', value: name, line };
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: 'number', value: number, line };
    const text = this.#match(TEXT);
    if (text !== undefined) return { kind: 'text', value: unescape(text.slice(1, -1)), line };
    const letter = this.#source[this.#at] as string;
    if (letter === '`') return this.#template(line);
    if (letter === '/' && this.#mayBeRegexp()) {
      const regexp = this.#match(REGEXP);
      if (regexp !== undefined) return { kind: 'regexp', value: regexp, line };
    }
    this.#at++;
    if (letter === '{') this.#braces.push(false);
    // The rest of a template adds nothing that its beginning does not have.
    if (letter === '}' && this.#braces.pop() === true) this.#skipTemplate();
    return { kind: 'mark', value: letter, line };
  }

  #template(line: number): Token {
    const start = this.#at + 1;
    this.#at = start;
    const end = this.#skipTemplate();
    const isCut = this.#source[end] === '$';
    return { kind: 'template', value: unescape(this.#source.slice(start, end)), isCut, line };
  }

  /** Moves past the template, or past the next `${` in it; returns where its text ends. */
  #skipTemplate(): number {
    for (; this.#at < this.#source.length; this.#at++) {
      const letter = this.#source[this.#at];
      if (letter === '\\') this.#at++;
      else if (letter === '`') return this.#at++;
      else if (letter === '$' && this.#source[this.#at + 1] === '{') {
        this.#braces.push(true);
        this.#at += 2;
        return this.#at - 2;
      }
    }
    return this.#at;
  }

  #mayBeRegexp(): boolean {
    const last = this.#last;
    if (!last) return true;
    if (last.kind === 'name') return BEFORE_REGEXP.has(last.value);
    return last.kind === 'mark' && ![')', ']', '}'].includes(last.value);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#source) ?? [];
    if (!found) return undefined;
    this.#at += found.length;
    return found;
  }

  #lineHere(): number {
    for (; this.#counted < this.#at; this.#counted++) if (this.#source[this.#counted] === '\n') this.#line++;
    return this.#line;
  }
}

function unescape(text: string): string {
  // oxlint-disable-next-line max-params -- one per group of the pattern
  return text.replaceAll(ESCAPE, (_, braced?: string, four?: string, two?: string, plain?: string) => {
    const digits = braced ?? four ?? two;
    if (digits === undefined) return /^[\r\n]/.test(plain ?? '') ? '' : (ESCAPES[plain ?? ''] ?? plain ?? '');
    const point = Number.parseInt(digits, 16);
    return point <= MAX_CODE_POINT ? String.fromCodePoint(point) : '';
  });
}
