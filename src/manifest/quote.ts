/**
 * Text of a skill inside a message of ours: quoted, short, and unable to steer a terminal.
 *
 * @module
 */

const MAX_QUOTED = 80;

/** The text in quotes, everything but printable ASCII escaped, cut at 80 characters. */
export function quote(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  const escaped = JSON.stringify(cut).replaceAll(/[^ -~…]/g, escapeUnit);
  return escaped;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
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
