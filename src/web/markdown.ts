/**
 * Parses a small part of Markdown into plain data: headings, paragraphs, lists, code blocks and tables. Everything else,
 * HTML included, stays text. The work and the number of elements are bounded.
 *
 * @module
 */
import { parseInline, type Budget, type Inline } from './markdown-inline.ts';

export interface ListItem {
  children: Inline[];
  blocks: Block[];
}

export type Block =
  | { kind: 'heading'; level: number; children: Inline[] }
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: ListItem[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] };

type List = Extract<Block, { kind: 'list' }>;

export interface Parsed {
  blocks: Block[];
  /** The text was too long, so its end is missing. */
  isCut: boolean;
}

const MAX_CHARACTERS = 256 * 1024;
const MAX_LINES = 5000;
const MAX_ELEMENTS = 5000;
const MAX_COLUMNS = 20;
const MAX_LIST_DEPTH = 6;

const FENCE = /^(\s{0,20})(`{3,20}|~{3,20})/;
// The rest of a line is `[^]*`, because `.` stops at U+2028: each of many spaces before it would then be tried as its start.
const HEADING = /^(#{1,6})\s+([^]*)$/;
const ITEM = /^(\s{0,40})(?:[-*+]|(\d{1,9})[.)])\s+([^]*)$/;

export function parseMarkdown(text: string): Parsed {
  const lines = text.slice(0, MAX_CHARACTERS).split(/\r\n|\r|\n/, MAX_LINES + 1);
  const isCut = text.length > MAX_CHARACTERS || lines.length > MAX_LINES;
  const parser = new Parser(lines.slice(0, MAX_LINES));
  return { blocks: parser.parse(), isCut };
}

class Parser {
  readonly #lines: readonly string[];
  readonly #budget: Budget = { left: MAX_ELEMENTS };
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  parse(): Block[] {
    const blocks: Block[] = [];
    while (this.#at < this.#lines.length) {
      const block = this.#block();
      if (block) blocks.push(block);
    }
    return blocks;
  }

  get #line(): string {
    return this.#lines[this.#at] ?? '';
  }

  #block(): Block | undefined {
    const line = this.#line;
    if (line.trim() === '') {
      this.#at += 1;
      return undefined;
    }
    if (FENCE.test(line)) return this.#code();
    const heading = HEADING.exec(line);
    if (heading) {
      this.#at += 1;
      const [, signs = '', title = ''] = heading;
      return { kind: 'heading', level: signs.length, children: this.#inline(title) };
    }
    if (ITEM.test(line)) return this.#list();
    return this.#isTable() ? this.#table() : this.#paragraph();
  }

  #code(): Block {
    const [, indent = '', fence = ''] = FENCE.exec(this.#line) ?? [];
    const content: string[] = [];
    this.#at += 1;
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = this.#line;
      if (line.trim().startsWith(fence)) {
        this.#at += 1;
        break;
      }
      content.push(line.startsWith(indent) ? line.slice(indent.length) : line.trimStart());
    }
    return { kind: 'code', text: content.join('\n') };
  }

  #paragraph(): Block {
    const lines: string[] = [];
    do {
      lines.push(this.#line);
      this.#at += 1;
    } while (this.#at < this.#lines.length && !this.#startsBlock());
    return { kind: 'paragraph', children: this.#inline(lines.join('\n')) };
  }

  #startsBlock(): boolean {
    const line = this.#line;
    return line.trim() === '' || FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || this.#isTable();
  }

  /** The open lists, outermost first, each with the indentation of its items. */
  #list(): Block {
    const open: { indent: number; list: List }[] = [];
    while (this.#at < this.#lines.length) {
      const line = this.#line;
      const item = ITEM.exec(line);
      const last = open.at(-1)?.list.items.at(-1);
      if (item) {
        const [, space = '', number, text = ''] = item;
        this.#at += 1;
        const list = this.#listAt(open, { indent: space.length, ordered: number !== undefined });
        list.items.push({ children: this.#inline(text), blocks: [] });
      } else if (last && /^\s+\S/.test(line)) this.#continue(last, line);
      else if (line.trim() === '' && this.#goesOn()) this.#at += 1;
      else break;
    }
    return open[0]?.list ?? { kind: 'paragraph', children: [] };
  }

  #listAt(
    open: { indent: number; list: List }[],
    { indent, ordered }: { indent: number; ordered: boolean },
  ): List {
    while (open.length > 1 && indent < (open.at(-1)?.indent ?? 0)) open.pop();
    const current = open.at(-1);
    const isDeeper = current === undefined || indent > current.indent + 1;
    if (current && (!isDeeper || open.length >= MAX_LIST_DEPTH)) return current.list;
    const list: List = { kind: 'list', ordered, items: [] };
    current?.list.items.at(-1)?.blocks.push(list);
    open.push({ indent, list });
    return list;
  }

  /** An indented line belongs to the item above it. */
  #continue(item: ListItem, line: string): void {
    if (FENCE.test(line)) {
      item.blocks.push(this.#code());
      return;
    }
    this.#at += 1;
    const children = this.#inline(line.trim());
    if (item.blocks.length > 0) item.blocks.push({ kind: 'paragraph', children });
    else item.children.push({ kind: 'text', text: ' ' }, ...children);
  }

  /** Whether a list continues after an empty line. */
  #goesOn(): boolean {
    const next = this.#lines[this.#at + 1] ?? '';
    return ITEM.test(next) || /^\s+\S/.test(next);
  }

  #isTable(): boolean {
    const rule = this.#lines[this.#at + 1] ?? '';
    return (
      this.#line.includes('|') &&
      rule.includes('-') &&
      rule.length < 2000 &&
      cellsOf(rule).every((cell) => /^:?-+:?$/.test(cell))
    );
  }

  #table(): Block {
    const row = (line: string): Inline[][] => cellsOf(line).map((cell) => this.#inline(cell));
    const head = row(this.#line);
    const rows: Inline[][][] = [];
    for (this.#at += 2; this.#line.includes('|'); this.#at += 1) {
      this.#budget.left -= 1;
      rows.push(row(this.#line).slice(0, head.length));
    }
    return { kind: 'table', head, rows };
  }

  #inline(text: string): Inline[] {
    return parseInline(text, this.#budget);
  }
}

/** The cells of a line of a table; `\|` is a bar in a cell. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/, MAX_COLUMNS).map((cell) => cell.trim());
}
