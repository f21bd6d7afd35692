/**
 * JSON with sorted keys and no spaces: equal values give equal text, and so equal digests.
 *
 * @module
 */
import { hash } from 'node:crypto';

/** Printable ASCII without quote and backslash: text that stands in JSON as it is. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/** The value as JSON text with keys in code-unit order. Like JSON.stringify otherwise. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const record = value as Record<string, unknown>;
  let members = '';
  for (const key of Object.keys(record).sort()) {
    const member = record[key];
    if (member !== undefined)
      members += `${members === '' ? '' : ','}${quoted(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** What JSON.stringify does, which is called for every key and takes its time to begin. */
function quoted(text: string): string {
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** `sha256:` and the hex digest of the value's canonical JSON. */
export function digestJson(value: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(value), 'hex')}`;
}
