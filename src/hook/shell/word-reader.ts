/**
 * Reads one word of a shell command: quotes, backslashes, expansions and substitutions.
 *
 * @module
 */
import { decodeAnsi } from './ansi-quotes.ts';
import { NotUnderstood, type Assignment, type Item, type Nested, type Part, type Word } from './syntax.ts';

const NAME = /^[A-Za-z_]\w*/;
const SPECIAL = /^[@*#?$!0-9-]/;

interface NestedReader {
  at: number;
  readSubstitution: () => Item[];
}

/** The text of a word without expansions, else undefined. */
export function plainText({ parts }: Word): string | undefined {
  return parts.every((part) => part.kind === 'text') ? parts.map((part) => part.text).join('') : undefined;
}

/** `NAME=value` at the start of a command. */
export function assignmentOf(word: Word): Assignment | undefined {
  const [first, ...others] = word.parts;
  if (first?.kind !== 'text' || first.quoted) return undefined;
  const match = /^([A-Za-z_]\w*)(\+?)=/.exec(first.text);
  if (match === null) {
    if (/^[A-Za-z_]\w*\[/.test(first.text)) throw new NotUnderstood('it assigns to an array');
    return undefined;
  }
  const [prefix, name = '', append] = match;
  const rest = first.text.slice(prefix.length);
  const parts: Part[] = rest === '' ? others : [...homeAtStart(rest), ...others];
  // `+=` adds to a value that is not known here.
  const value = append === '' ? parts : [{ kind: 'computed' as const, raw: '' }, ...parts];
  return { name, value: { ...word, parts: value } };
}

function homeAtStart(text: string): Part[] {
  if (!text.startsWith('~')) return [{ kind: 'text', text, quoted: false }];
  if (text !== '~' && text[1] !== '/') return [{ kind: 'computed', raw: text }];
  return [{ kind: 'home' }, { kind: 'text', text: text.slice(1), quoted: false }];
}

export abstract class WordReader {
  readonly text: string;
  readonly depth: number;
  at: number;
  /** Set where a here-document of an outer command waits for the end of the line. */
  noNewlines = false;
  #parts: Part[] = [];
  #nested: Nested[] = [];

  constructor(text: string, at: number, depth: number) {
    this.text = text;
    this.at = at;
    this.depth = depth;
  }

  /** A reader of the same text, at another position. */
  protected abstract nestedReader(at: number): NestedReader;
  /** A reader of another text, such as that between backquotes. */
  protected abstract readerOf(text: string): { readAll: () => Item[] };

  readWord(): Word {
    const outer = { parts: this.#parts, nested: this.#nested };
    this.#parts = [];
    this.#nested = [];
    const start = this.at;
    while (this.at < this.text.length && this.#readPiece(start)) continue;
    const word = { start, end: this.at, parts: this.#parts, nested: this.#nested };
    this.#parts = outer.parts;
    this.#nested = outer.nested;
    return word;
  }

  /** The substitutions in text that is expanded like a double-quoted string, such as a here-document. */
  protected nestedInText(start: number, end: number): Nested[] {
    const outer = { parts: this.#parts, nested: this.#nested, at: this.at };
    this.#parts = [];
    this.#nested = [];
    this.at = start;
    while (this.at < end) this.#readQuotedPiece('');
    if (this.at !== end) throw new NotUnderstood('a substitution in a here-document is not closed');
    const nested = this.#nested;
    this.#parts = outer.parts;
    this.#nested = outer.nested;
    this.at = outer.at;
    return nested;
  }

  /** False where the word ends. */
  #readPiece(start: number): boolean {
    const char = this.text[this.at] ?? '';
    const next = this.text[this.at + 1];
    if ((char === '<' || char === '>') && next === '(') return this.#readSubstitution(2);
    if (/[\s;&|<>()]/.test(char)) return false;
    if (char === "'") return this.#readSingleQuotes();
    if (char === '"') return this.#readDoubleQuotes();
    if (char === '\\') return this.#readBackslash();
    if (char === '$' || char === '`') return this.#readExpansion(false);
    if (char === '~' && this.at === start) return this.#readTilde();
    this.#push(char, false);
    this.at++;
    return true;
  }

  #push(text: string, quoted: boolean): void {
    const last = this.#parts.at(-1);
    if (last?.kind === 'text' && last.quoted === quoted) last.text += text;
    else this.#parts.push({ kind: 'text', text, quoted });
  }

  #readSingleQuotes(): boolean {
    const end = this.text.indexOf("'", this.at + 1);
    if (end === -1) throw new NotUnderstood('a single quote is not closed');
    this.#push(this.text.slice(this.at + 1, end), true);
    this.at = end + 1;
    return true;
  }

  #readDoubleQuotes(): boolean {
    this.at++;
    this.#push('', true);
    while (this.text[this.at] !== '"') {
      if (this.at >= this.text.length) throw new NotUnderstood('a double quote is not closed');
      this.#readQuotedPiece('"');
    }
    this.at++;
    return true;
  }

  /** One character or expansion between double quotes. */
  #readQuotedPiece(quote: string): void {
    const char = this.text[this.at] ?? '';
    const next = this.text[this.at + 1] ?? '';
    if (char === '$' || char === '`') {
      this.#readExpansion(true);
    } else if (char === '\\' && (/[$`\\\n]/.test(next) || (next !== '' && next === quote))) {
      if (next !== '\n') this.#push(next, true);
      this.at += 2;
    } else {
      this.#push(char, true);
      this.at++;
    }
  }

  #readBackslash(): boolean {
    const next = this.text[this.at + 1];
    if (next === undefined) throw new NotUnderstood('it ends with a backslash');
    if (next !== '\n') this.#push(next, true);
    this.at += 2;
    return true;
  }

  #readTilde(): boolean {
    const [prefix] = /^~[^/\s;&|<>()'"\\$`]*/.exec(this.text.slice(this.at)) ?? ['~'];
    this.at += prefix.length;
    this.#parts.push(prefix === '~' ? { kind: 'home' } : { kind: 'computed', raw: prefix });
    return true;
  }

  #readExpansion(quoted: boolean): boolean {
    if (this.text[this.at] === '`') return this.#readBackquotes(quoted);
    const rest = this.text.slice(this.at + 1, this.at + 257);
    if (rest.startsWith('((')) return this.#readArithmetic();
    if (rest.startsWith('(')) return this.#readSubstitution(2);
    if (rest.startsWith('{')) return this.#readBraces(quoted);
    if (rest.startsWith('[')) throw new NotUnderstood('it uses "$["');
    if (!quoted && rest.startsWith("'")) return this.#readAnsiQuotes();
    if (!quoted && rest.startsWith('"')) {
      this.at++;
      return this.#readDoubleQuotes();
    }
    const [name] = NAME.exec(rest) ?? [];
    const [special] = SPECIAL.exec(rest) ?? [];
    if (name !== undefined) this.#parts.push({ kind: 'parameter', name, quoted });
    else if (special !== undefined) this.#parts.push({ kind: 'computed', raw: `$${special}` });
    else this.#push('$', quoted);
    this.at += 1 + (name ?? special ?? '').length;
    return true;
  }

  #readAnsiQuotes(): boolean {
    const match = /^\$'((?:[^'\\]|\\[^])*)'/.exec(this.text.slice(this.at));
    if (match === null) throw new NotUnderstood("a quote $'…' is not closed");
    this.#push(decodeAnsi(match[1] ?? ''), true);
    this.at += match[0].length;
    return true;
  }

  /** `$( )`, `<( )` and `>( )`: `skip` is the length of what opens it. */
  #readSubstitution(skip: number): boolean {
    const start = this.at;
    const reader = this.nestedReader(this.at + skip);
    const items = reader.readSubstitution();
    this.at = reader.at + 1;
    this.#nested.push({ items, editable: true });
    this.#parts.push({ kind: 'computed', raw: this.text.slice(start, this.at) });
    return true;
  }

  #readBackquotes(quoted: boolean): boolean {
    const match = /^`((?:[^`\\]|\\[^])*)`/.exec(this.text.slice(this.at));
    if (match === null) throw new NotUnderstood('a backquote is not closed');
    const [raw, body = ''] = match;
    const text = body.replaceAll(quoted ? /\\([`\\$"])/g : /\\([`\\$])/g, '$1');
    this.#nested.push({ items: this.readerOf(text).readAll(), editable: false });
    this.#parts.push({ kind: 'computed', raw });
    this.at += raw.length;
    return true;
  }

  /** `$(( ))`: only its substitutions matter. `$((` can also open a subshell in a substitution, which is not understood. */
  #readArithmetic(): boolean {
    const start = this.at;
    this.at += 3;
    const outer = this.#parts;
    this.#parts = [];
    for (let open = 0; open > 0 || !this.text.startsWith('))', this.at);) {
      const char = this.text[this.at];
      if (char === undefined || (char === ')' && open === 0))
        throw new NotUnderstood('"$((" is not closed by "))"');
      if (char === '(') open++;
      if (char === ')') open--;
      this.#readQuotedPiece('');
    }
    this.at += 2;
    this.#parts = outer;
    this.#parts.push({ kind: 'computed', raw: this.text.slice(start, this.at) });
    return true;
  }

  /** `${NAME}` is a parameter; every other form is computed, and its substitutions are read. */
  #readBraces(quoted: boolean): boolean {
    const [simple, name] = /^\$\{([A-Za-z_]\w*)\}/.exec(this.text.slice(this.at, this.at + 260)) ?? [];
    if (simple !== undefined && name !== undefined) {
      this.#parts.push({ kind: 'parameter', name, quoted });
      this.at += simple.length;
      return true;
    }
    const start = this.at;
    const outer = this.#parts;
    this.#parts = [];
    this.at += 2;
    if (/[\s|]/.test(this.text[this.at] ?? '')) throw new NotUnderstood('it uses "${ …; }"');
    while (this.text[this.at] !== '}') {
      if (this.at >= this.text.length) throw new NotUnderstood('"${" is not closed');
      this.#readBracePiece(quoted);
    }
    this.at++;
    this.#parts = outer;
    this.#parts.push({ kind: 'computed', raw: this.text.slice(start, this.at) });
    return true;
  }

  #readBracePiece(quoted: boolean): void {
    const char = this.text[this.at] ?? '';
    const next = this.text[this.at + 1] ?? '';
    if (char === "'" && quoted) throw new NotUnderstood('it has a quote inside "${ }" inside quotes');
    if (char === "'") this.#readSingleQuotes();
    else if (char === '"') this.#readDoubleQuotes();
    else if (char === '\\') this.#readBackslash();
    else if ((char === '<' || char === '>') && next === '(') this.#readSubstitution(2);
    else this.#readQuotedPiece('');
  }
}
