/**
 * Text of a skill inside a message of ours: quoted, short, and unable to steer a terminal.
 *
 * @module
 */

import { printableLine } from './printable.ts';

const MAX_QUOTED = 80;
const MAX_MESSAGE = 300;

/** The text in quotes, everything but printable ASCII escaped, cut at 80 characters. */
export function quote(text: string): string {
  return escapeUnprintable(JSON.stringify(shorten(text, MAX_QUOTED)));
}

/** A message of a library that may repeat hostile text: one line of bounded length. */
export function shortLine(text: string): string {
  return printableLine(shorten(text, MAX_MESSAGE));
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

function escapeUnprintable(text: string): string {
  return text.replaceAll(/[^ -~…]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `['network', 0, 'host']` as `network[0].host`; keys that are no plain words are quoted. */
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

/** A path for a command line that people copy: plain as it is, else quoted so that a shell takes it for one word. */
export function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
