/**
 * JSON with sorted keys and no spaces, so that equal values have equal text and equal digests.
 *
 * @module
 */
import { hash } from 'node:crypto';

/** Printable ASCII without quote and backslash, which JSON does not escape. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/** Like JSON.stringify, but with keys in code-unit order. */
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

/** A fast path for plain text: JSON.stringify is slow to start and would run once per key. */
function quoted(text: string): string {
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** `sha256:` and the hex digest of the value's canonical JSON. */
export function digestJson(value: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(value), 'hex')}`;
}
