/**
 * Reads one list of strings from TOML: `dependencies` of a PEP 723 block, or of `[project]` in a pyproject.toml. The rest of
 * the document is skipped line by line, not parsed. Linear in the length of the text.
 *
 * @module
 */

/** A string of the list, and its 1-based line. */
export interface TomlString {
  value: string;
  line: number;
}

export interface TomlPlace {
  /** The table; empty for keys above the first table. */
  table: string;
  key: string;
}

const MAX_STRINGS = 1000;
/** The name is trimmed afterwards: a second pattern for spaces beside it would take time by the square of their number. */
const TABLE = /^\s*\[([A-Za-z0-9_."' \t-]{1,200})\]\s*(?:#.*)?$/;
const ARRAY_TABLE = /^\s*\[\[/;

/** Undefined if there is no such list, or if it is not a list of plain strings. */
export function tomlStrings(text: string, { table, key }: TomlPlace): TomlString[] | undefined {
  const lines = text.split('\n');
  const start = new RegExp(`^\\s*(?:${key}|"${key}"|'${key}')\\s*=\\s*`);
  let current = '';
  let multiline: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (multiline !== undefined) {
      if (line.includes(multiline)) multiline = undefined;
      continue;
    }
    const begun = current === table ? start.exec(line) : null;
    if (begun) return readList(lines, index, begun[0].length);
    if (ARRAY_TABLE.test(line)) current = '[[';
    else current = TABLE.exec(line)?.[1]?.trim() ?? current;
    multiline = opensMultiline(line);
  }
  return undefined;
}

/** The quotes of a multi-line string that this line opens and does not close. */
function opensMultiline(line: string): string | undefined {
  return ['"""', "'''"].find((quotes) => line.split(quotes).length % 2 === 0);
}

function readList(lines: readonly string[], first: number, from: number): TomlString[] | undefined {
  const found: TomlString[] = [];
  let position = from;
  let isOpen = false;
  for (let index = first; index < lines.length; index++, position = 0) {
    const line = lines[index] ?? '';
    while (position < line.length) {
      const letter = line[position] ?? '';
      if (letter === '#') break;
      if (letter === '[' && !isOpen) isOpen = true;
      else if (letter === ']' && isOpen) return found;
      else if ((letter === '"' || letter === "'") && isOpen) {
        const read = readString(line, position);
        if (!read || found.length >= MAX_STRINGS) return undefined;
        found.push({ value: read.value, line: index + 1 });
        position = read.end;
        continue;
      } else if (!/[\s,]/.test(letter)) return undefined;
      position++;
    }
    if (!isOpen) return undefined;
  }
  return undefined;
}

/** A string on one line; escapes other than those of quotes and backslashes occur in no requirement. */
function readString(line: string, start: number): { value: string; end: number } | undefined {
  const quote = line[start] ?? '';
  if (line.startsWith(quote.repeat(3), start)) return undefined;
  let value = '';
  for (let at = start + 1; at < line.length; at++) {
    const letter = line[at] ?? '';
    if (letter === quote) return { value, end: at + 1 };
    if (letter === '\\' && quote === '"') {
      const next = line[++at] ?? '';
      if (next !== '"' && next !== '\\') return undefined;
      value += next;
    } else value += letter;
  }
  return undefined;
}
