/**
 * Puts untrusted text into our messages: quoted, short, and without terminal controls.
 *
 * @module
 */

import { printableLine } from './printable.ts';

const MAX_QUOTED = 80;
const MAX_MESSAGE = 300;

/** The text in quotes, cut at 80 characters, with everything except printable ASCII escaped. */
export function quote(text: string): string {
  return escapeUnprintable(JSON.stringify(shorten(text, MAX_QUOTED)));
}

/** A library's message, which may repeat hostile text, as one line of bounded length. */
export function shortLine(text: string): string {
  return printableLine(shorten(text, MAX_MESSAGE));
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

function escapeUnprintable(text: string): string {
  return text.replaceAll(/[^ -~…]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Formats `['network', 0, 'host']` as `network[0].host`; unusual keys are quoted. */
export function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(top level)';
  return path.map((part, index) => formatPart(part, index === 0)).join('');
}

function formatPart(part: PropertyKey, first: boolean): string {
  if (typeof part === 'number') return `[${part}]`;
  const key = String(part);
  if (!/^[\w$-]{1,80}$/.test(key)) return `[${quote(key)}]`;
  return first ? key : `.${key}`;
}

/** A path for a command that people copy, quoted if a shell would not read it as one plain word. */
export function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
