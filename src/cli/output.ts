/**
 * Prints results to stdout and everything else to stderr, with colours only on a terminal. All output goes through
 * `printable` here, so that no command can forget it; untrusted text within a line goes through `printableLine` first.
 *
 * @module
 */
import { styleText } from 'node:util';
import type { ErrorBody } from '../errors.ts';
import {
  markedLines,
  printable,
  printableBlock,
  printableJson,
  printableLine,
} from '../manifest/printable.ts';

type Style = Parameters<typeof styleText>[0];

/** Style of a text on a terminal: of all of it, or of a label in front of it. */
export interface Look {
  style?: Style;
  label?: { style: Style; text: string };
}

export function printResult(value: unknown): void {
  process.stdout.write(`${printableJson(value, process.stdout.isTTY ? 2 : undefined)}\n`);
}

/** The result of a command that changes something: JSON for programs, sentences for people. */
export function printAnswer(json: boolean | undefined, answer: object, text: string): void {
  if (json) printResult({ ok: true, ...answer });
  else printLine(text);
}

export function printLine(line = '', look: Look = {}): void {
  process.stdout.write(`${applyLook(line, look)}\n`);
}

export function printNote(text: string, look: Look = {}): void {
  process.stderr.write(`${applyLook(text, look)}\n`);
}

/** Unchanged if another program reads it; escaped on a terminal, which would interpret control sequences. */
export function printFile(text: string): void {
  process.stdout.write(process.stdout.isTTY ? printable(text) : text);
}

export function printWarning(text: string): void {
  printNote(printableBlock(text), { label: { style: 'yellow', text: 'warning:' } });
}

/** The message with its trace, then the fix. */
export function printError(error: ErrorBody): void {
  printNote(printableBlock(error.message), { label: { style: 'red', text: `error[${error.code}]:` } });
  const trace = error.detail['trace'];
  if (typeof trace === 'string' && trace !== '') printNote(markedLines(trace));
  printNote(printableLine(error.fix), { label: { style: 'green', text: 'fix:' } });
}

/** Output of a skill, each line marked as such. */
export function printLogs(logs: string): void {
  if (logs !== '') printNote(markedLines(logs));
}

function applyLook(text: string, { style, label }: Look): string {
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
