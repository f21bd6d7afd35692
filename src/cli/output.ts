/**
 * Text for people, on stderr; colours only on a terminal. Results alone go to stdout.
 *
 * @module
 */
import { styleText } from 'node:util';
import { printable, type ErrorBody } from '../index.ts';

type Style = Parameters<typeof styleText>[0];

export function printResult(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)}\n`);
}

export function printLine(line = ''): void {
  process.stdout.write(`${line}\n`);
}

export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function printWarning(text: string): void {
  printNote(`${paint('yellow', 'warning:')} ${printable(text)}`);
}

/** What happened with its cause, then the fix. */
export function printError(error: ErrorBody): void {
  printNote(`${paint('red', `error[${error.code}]:`)} ${printable(error.message)}`);
  const trace = error.detail['trace'];
  if (typeof trace === 'string' && trace !== '') printNote(indent(printable(trace)));
  printNote(`${paint('green', 'fix:')} ${printable(error.fix)}`);
}

/** Output of a skill, for people. */
export function printLogs(logs: string): void {
  if (logs !== '') process.stderr.write(printable(logs.endsWith('\n') ? logs : `${logs}\n`));
}

/** Columns padded to the widest cell. */
export function table(rows: string[][]): string {
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

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '  ');
}
