/**
 * Untrusted text inside of generated source: it stays inside its comment or its literal, whatever it contains.
 *
 * @module
 */
import { printable, printableLine } from '../../manifest/printable.ts';

const MAX_DESCRIPTION = 1200;
const MAX_REMARK = 300;
const MAX_LINES = 24;

/** A description as lines without control characters. */
export function descriptionLines(text: string): string[] {
  const lines = printable(shorten(text.trim(), MAX_DESCRIPTION), { keepsJoiners: true }).split('\n');
  const kept = lines.slice(0, MAX_LINES).map((line) => line.trimEnd());
  return kept.length < lines.length ? [...kept, '…'] : kept;
}

/** A description as one line. */
export function remark(text: string): string {
  return printableLine(shorten(text.replaceAll(/\s+/g, ' ').trim(), MAX_REMARK));
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
