/**
 * A conservative reader of shell commands (bash, POSIX sh). It runs nothing, and throws `NotUnderstood` for all syntax that it
 * does not know, so that a caller never acts on a guess.
 *
 * @module
 */
import { assignmentOf, plainText, WordReader } from './word-reader.ts';
import { NotUnderstood, type Item, type Redirection, type SimpleCommand, type Word } from './syntax.ts';

/** Words that open, continue or close a compound command. Only unquoted, and only where a command may start. */
const OPENING = new Set(['if', 'while', 'until', '{', 'do', 'then', 'else', 'elif']);
const CLOSING = new Set(['fi', 'done', '}']);
const UNKNOWN = new Set(['case', 'esac', 'function', 'select', 'coproc']);
const OPERATORS = ['&&', '||', ';;', '|&', ';', '|', '&', '\n'];
const REDIRECTIONS = ['<<<', '<<-', '&>>', '<<', '>>', '<&', '>&', '<>', '>|', '&>', '<', '>'];
/** The words of a command that these keywords negate or measure follow. */
const PREFIXES = new Set(['!', 'time']);

interface HereDocument {
  redirection: Redirection;
  delimiter: string;
  quoted: boolean;
  stripTabs: boolean;
}

export function readCommand(text: string): Item[] {
  // Shells differ in how they read control characters and unusual spaces.
  if (/[\p{Cc}\p{Cf}\p{Z}]/u.test(text.replaceAll(/[ \t\n]/g, '')))
    throw new NotUnderstood('it contains control characters or unusual spaces');
  return new CommandReader(text, 0, 0).readAll();
}

/** Reads items up to the end of the text or an unmatched `)`. Substitutions are read by a reader of their own. */
class CommandReader extends WordReader {
  #pending: HereDocument[] = [];
  #items: Item[] = [];
  #parentheses = 0;

  readAll(): Item[] {
    this.#readItems();
    if (this.at < this.text.length) throw new NotUnderstood('it has a ")" too many');
    return this.#items;
  }

  /** For `$( )` and `<( )`: stops at the closing parenthesis, which the caller consumes. */
  readSubstitution(): Item[] {
    this.#readItems();
    if (this.text[this.at] !== ')') throw new NotUnderstood('a substitution is not closed');
    return this.#items;
  }

  protected override nestedReader(at: number): CommandReader {
    if (this.depth > 16) throw new NotUnderstood('it is nested too deeply');
    const inner = new CommandReader(this.text, at, this.depth + 1);
    inner.noNewlines = this.noNewlines || this.#pending.length > 0;
    return inner;
  }

  protected override readerOf(text: string): CommandReader {
    if (this.depth > 16) throw new NotUnderstood('it is nested too deeply');
    return new CommandReader(text, 0, this.depth + 1);
  }

  #readItems(): void {
    while (this.#skipBlanks()) {
      if (this.text[this.at] === ')' && this.#parentheses === 0) break;
      this.#readItem();
    }
    if (this.#parentheses > 0) throw new NotUnderstood('a "(" is not closed');
    if (this.#pending.length > 0) throw new NotUnderstood('a here-document has no text');
  }

  /** False at the end of the text. */
  #skipBlanks(): boolean {
    for (;;) {
      const char = this.text[this.at];
      if (char === ' ' || char === '\t') this.at++;
      else if (char === '\\' && this.text[this.at + 1] === '\n') this.at += 2;
      else if (char === '#') while (this.at < this.text.length && this.text[this.at] !== '\n') this.at++;
      else return char !== undefined;
    }
  }

  #readItem(): void {
    const char = this.text[this.at];
    if (char === '(') return this.#openParenthesis();
    if (char === ')') return this.#closeParenthesis();
    const operator = OPERATORS.find((text) => this.text.startsWith(text, this.at));
    if (operator !== undefined && !this.text.startsWith('&>', this.at)) return this.#readOperator(operator);
    this.#readSimple();
  }

  #openParenthesis(): void {
    if (this.text[this.at + 1] === '(') throw new NotUnderstood('it uses "(( ))"');
    this.at++;
    this.#parentheses++;
    this.#items.push({ kind: 'open', text: '(' });
  }

  #closeParenthesis(): void {
    this.at++;
    this.#parentheses--;
    this.#items.push({ kind: 'close', text: ')' });
  }

  #readOperator(operator: string): void {
    if (operator === ';;') throw new NotUnderstood('it uses "case"');
    this.at += operator.length;
    this.#items.push({ kind: 'operator', text: operator === '\n' ? ';' : operator });
    if (operator !== '\n') return;
    if (this.noNewlines) throw new NotUnderstood('a substitution with several lines follows a here-document');
    this.#readHereDocuments();
  }

  #readSimple(): void {
    const command: SimpleCommand = { kind: 'simple', assignments: [], words: [], redirections: [] };
    while (this.#skipBlanks()) {
      if (this.#readRedirection(command)) continue;
      if (/[;&|()\n]/.test(this.text[this.at] ?? '')) break;
      const word = this.readWord();
      if (this.text[this.at] === '(') throw new NotUnderstood('it defines a function or an array');
      if (command.words.length === 0 && command.assignments.length === 0 && this.#isKeyword(word, command))
        return;
      const assignment = command.words.length === 0 ? assignmentOf(word) : undefined;
      if (assignment === undefined) command.words.push(word);
      else command.assignments.push(assignment);
    }
    // `name ()`: a blank may stand before the parenthesis.
    if (this.text[this.at] === '(') throw new NotUnderstood('it defines a function');
    this.#items.push(command);
  }

  #isKeyword(word: Word, command: SimpleCommand): boolean {
    const text =
      word.parts.length === 1 && word.parts[0]?.kind === 'text' && !word.parts[0].quoted
        ? word.parts[0].text
        : '';
    if (UNKNOWN.has(text)) throw new NotUnderstood(`it uses "${text}"`);
    // A redirection in front makes the word an ordinary one.
    if (text === '' || command.redirections.length > 0) return false;
    if (text === 'for') this.#readFor();
    else if (text === '[[') this.#readTest();
    else if (OPENING.has(text)) this.#items.push({ kind: 'open', text });
    else if (CLOSING.has(text)) this.#items.push({ kind: 'close', text });
    else if (!PREFIXES.has(text)) return false;
    else if (text === 'time') this.#skipTimeOptions();
    return true;
  }

  #skipTimeOptions(): void {
    this.#skipBlanks();
    const [option] = /^-p(?=\s)/.exec(this.text.slice(this.at, this.at + 3)) ?? [''];
    this.at += option.length;
  }

  #readFor(): void {
    const words: Word[] = [];
    this.#skipBlanks();
    const name = plainText(this.readWord()) ?? '';
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new NotUnderstood('it uses an unusual "for"');
    while (this.#skipBlanks() && !/[;&|()<>\n]/.test(this.text[this.at] ?? '')) words.push(this.readWord());
    this.#items.push({ kind: 'for', name, words }, { kind: 'open', text: 'for' });
  }

  #readTest(): void {
    const words: Word[] = [];
    for (;;) {
      while (/[\s()<>&|]/.test(this.text[this.at] ?? '')) this.at++;
      if (this.at >= this.text.length) throw new NotUnderstood('"[[" is not closed');
      const word = this.readWord();
      if (word.start === word.end) throw new NotUnderstood('"[[" is not closed');
      if (plainText(word) === ']]') break;
      words.push(word);
    }
    this.#items.push({ kind: 'test', name: '', words });
  }

  /** Consumes a redirection, with the number of its descriptor. */
  #readRedirection({ redirections }: SimpleCommand): boolean {
    const [prefix = ''] =
      /^(?:\d+|\{[A-Za-z_]\w*\})(?=[<>])/.exec(this.text.slice(this.at, this.at + 64)) ?? [];
    const start = this.at + prefix.length;
    const operator = REDIRECTIONS.find((text) => this.text.startsWith(text, start));
    if (operator === undefined) return false;
    // `<( )` is a word.
    if (operator.length === 1 && this.text[start + 1] === '(') return false;
    this.at = start + operator.length;
    this.#skipBlanks();
    const target = this.readWord();
    if (target.start === target.end) throw new NotUnderstood('a redirection has no target');
    const redirection: Redirection = { operator, target };
    redirections.push(redirection);
    if (operator === '<<' || operator === '<<-') this.#expectHereDocument(redirection);
    return true;
  }

  #expectHereDocument(redirection: Redirection): void {
    const { target, operator } = redirection;
    const delimiter = plainText(target);
    if (delimiter === undefined || target.nested.length > 0)
      throw new NotUnderstood('a here-document has a computed delimiter');
    const quoted = /['"\\]/.test(this.text.slice(target.start, target.end));
    this.#pending.push({ redirection, delimiter, quoted, stripTabs: operator === '<<-' });
  }

  #readHereDocuments(): void {
    for (const { redirection, delimiter, quoted, stripTabs } of this.#pending.splice(0)) {
      const start = this.at;
      let end = -1;
      while (end === -1) {
        if (this.at >= this.text.length) throw new NotUnderstood('a here-document has no end');
        const lineEnd = this.text.indexOf('\n', this.at);
        const stop = lineEnd === -1 ? this.text.length : lineEnd;
        const line = this.text.slice(this.at, stop);
        if ((stripTabs ? line.replace(/^\t+/, '') : line) === delimiter) end = this.at;
        this.at = Math.min(stop + 1, this.text.length);
      }
      redirection.body = this.text.slice(start, end);
      if (!quoted) redirection.target.nested.push(...this.nestedInText(start, end));
    }
  }
}
