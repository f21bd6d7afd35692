/**
 * Text for people, on stderr; colours only on a terminal. Results alone go to stdout. Whatever is written goes through
 * `printable` here, so that no command can forget it; texts of strangers within a line go through `printableLine` first.
 *
 * @module
 */
import { styleText } from 'node:util';
import {
  markedLines,
  printable,
  printableBlock,
  printableJson,
  printableLine,
  type ErrorBody,
} from '../index.ts';

type Style = Parameters<typeof styleText>[0];

/** How a text looks on a terminal: all of it, or a word of ours in front of it. */
export interface Look {
  style?: Style;
  label?: { style: Style; text: string };
}

export function printResult(value: unknown): void {
  process.stdout.write(`${printableJson(value, process.stdout.isTTY ? 2 : undefined)}\n`);
}

export function printLine(line = '', look: Look = {}): void {
  process.stdout.write(`${painted(line, look)}\n`);
}

export function printNote(text: string, look: Look = {}): void {
  process.stderr.write(`${painted(text, look)}\n`);
}

/** A file for other programs: its bytes as they are, but on a terminal, which would obey them. */
export function printFile(text: string): void {
  process.stdout.write(process.stdout.isTTY ? printable(text) : text);
}

export function printWarning(text: string): void {
  printNote(printableBlock(text), { label: { style: 'yellow', text: 'warning:' } });
}

/** What happened with its cause, then the fix. */
export function printError(error: ErrorBody): void {
  printNote(printableBlock(error.message), { label: { style: 'red', text: `error[${error.code}]:` } });
  const trace = error.detail['trace'];
  if (typeof trace === 'string' && trace !== '') printNote(markedLines(trace));
  printNote(printableLine(error.fix), { label: { style: 'green', text: 'fix:' } });
}

/** Output of a skill, for people: each line marked as such. */
export function printLogs(logs: string): void {
  if (logs !== '') printNote(markedLines(logs));
}

function painted(text: string, { style, label }: Look): string {
  const plain = printable(text);
  const body = style === undefined ? plain : paint(style, plain);
  return label === undefined ? body : `${paint(label.style, label.text)} ${body}`;
}

/** Columns padded to the widest cell; a cell is always one line. */
export function table(cells: string[][]): string {
  const rows = cells.map((row) => row.map(printableLine));
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stderr });
}
